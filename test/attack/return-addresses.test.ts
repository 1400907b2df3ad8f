import request from 'supertest';
import { requireLogin } from '../../src/http/session/require-login.js';
import { startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';
import { hostileAddresses } from './support/hostile-addresses.js';

const ownOrigin = 'https://shop.example';

/** Whether a redirect stays on the site, by the URL parser that browsers use. */
const isHere = (address: string): boolean =>
  URL.canParse(address, `${ownOrigin}/account`) && new URL(address, `${ownOrigin}/account`).origin === ownOrigin;

/** The guard with this login page; undefined if it is rejected. */
function guardWith(loginUrl: string) {
  try {
    return requireLogin({ loginUrl });
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_configuration' });
    return undefined;
  }
}

describe('hostile return addresses', () => {
  test('never redirect a page view to another site', async () => {
    expect(hostileAddresses.length).toBeGreaterThan(202);
    const guards = hostileAddresses.map((address) => [address, guardWith(address)] as const);
    const accepted = guards.flatMap(([address, guard]) => (guard ? [{ address, guard }] : []));
    const site = await startSite({
      sequencer: { transport: countingTransport() },
      after: (app) => {
        for (const [n, { guard }] of accepted.entries()) app.get(`/${n}`, guard, (_req, res) => void res.send('in'));
      },
    });
    for (const [n, { address }] of accepted.entries()) {
      const answer = await request(site.origin).get(`/${n}`).set('Accept', 'text/html').expect(303);
      const location = answer.headers.location ?? '';
      expect([address, isHere(location), location.startsWith('/')]).toEqual([address, true, true]);
    }
    // A few harmless addresses may pass. Most must not.
    expect(accepted.length).toBeLessThan(hostileAddresses.length / 5);
  });

  test('in a request never become the redirect of requireLogin()', async () => {
    const site = await startSite({
      sequencer: { transport: countingTransport() },
      after: (app) => app.get('/account', requireLogin({ loginUrl: '/login' }), (_req, res) => void res.send('in')),
    });
    for (const address of hostileAddresses.slice(0, 60)) {
      const text = encodeURIComponent(address);
      const get = request(site.origin).get(`/account?next=${text}&return_to=${text}&redirect=${text}`);
      const answer = await get.set({ Accept: 'text/html', Referer: 'https://evil.example/' }).expect(303);
      expect(answer.headers.location).toBe('/login');
    }
  });

  test('are rejected as walletUrl', async () => {
    const transport = countingTransport();
    const bad = hostileAddresses.filter((address) => !/^https?:/i.test(address));
    for (const walletUrl of [...bad, 'https://wallet.example/#', 'wallet.example', 'https://']) {
      await expect(startSite({ sequencer: { transport }, button: { walletUrl } })).rejects.toMatchObject({
        code: 'invalid_configuration',
      });
    }
    expect(bad.length).toBeGreaterThan(150);
  });
});
