import request from 'supertest';
import { parseConfig } from '../../src/config/config.js';
import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';

const payment = () => ({ amount: 5, currency: 'usd' });
const secureCookie = /^__Host-intent=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/;

describe('cookies of an https site', () => {
  async function cookieOf(options: SiteOptions, headers: Record<string, string> = {}): Promise<string> {
    const { origin } = await startSite({ sequencer: { transport: recordingTransport() }, payment }, options);
    const answer = await request(origin)
      .post('/intent')
      .set({ 'Sec-Fetch-Site': 'same-origin', ...headers })
      .send({});
    expect(answer.status).toBe(201);
    return String(answer.headers['set-cookie']);
  }

  test('have Secure and the __Host- prefix when INTENT_ORIGIN is https, in every NODE_ENV', async () => {
    expect(await cookieOf({ origin: 'https://shop.example' })).toMatch(secureCookie);
  });

  test('have Secure and the __Host- prefix when the request came over https', async () => {
    const behindProxy = {
      before: (app: { set: (name: string, value: number) => unknown }) => void app.set('trust proxy', 1),
    };
    expect(await cookieOf(behindProxy, { 'X-Forwarded-Proto': 'https' })).toMatch(secureCookie);
    expect(await cookieOf(behindProxy, { 'X-Forwarded-Proto': 'http' })).toMatch(
      /^intent=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    // Headers of an untrusted proxy are ignored.
    expect(await cookieOf({}, { 'X-Forwarded-Proto': 'https' })).toMatch(/^intent=/);
  });

  test('complete a login', async () => {
    const { origin, simulator } = await startSiteWithSimulator({ before: (app) => app.set('trust proxy', 1) });
    const browser = new Browser(origin);
    const https = { 'x-forwarded-proto': 'https' };
    const { body } = await browser.send('POST', '/intent', { mode: 'login' }, https);
    await simulator.wallet().login(String(body.client_secret));
    const id = intentIdOf(String(body.client_secret));
    expect((await browser.send('POST', '/session', { id }, https)).status).toBe(200);
    expect([...browser.cookies.keys()].sort()).toEqual(['__Host-intent', '__Host-intent-session']);
    expect((await browser.send('GET', '/session', undefined, https)).body.user).toBeTruthy();
    // Over http, an attacker on the network could have set the cookie.
    expect((await browser.send('GET', '/session')).body.user).toBeFalsy();
    await browser.send('DELETE', '/session', undefined, https);
    expect(browser.cookies.has('__Host-intent-session')).toBe(false);
  });
});

describe('a misspelled NODE_ENV', () => {
  const warningsOf = (mode: string | undefined): readonly string[] =>
    parseConfig({ sequencer: { transport: recordingTransport() }, login: false }, { NODE_ENV: mode }).warnings.filter(
      (warning) => warning.includes('NODE_ENV'),
    );

  test.each(['PRODUCTION', 'prod', 'produciton', '"production"'])('causes a warning: %j', (mode) => {
    expect(warningsOf(mode)).toEqual([expect.stringContaining('NODE_ENV=production')]);
  });

  test.each([undefined, 'production', 'development', 'test'])('is not reported: %j', (mode) => {
    expect(mode === 'production' ? [] : warningsOf(mode)).toEqual([]);
  });
});
