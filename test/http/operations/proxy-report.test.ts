import request from 'supertest';
import { parseConfig } from '../../../src/config/config.js';
import { doctorHeader, doctorToken, parseReport } from '../../../src/http/operations/proxy-report.js';
import { generateKeyPair } from '../../../src/keys/verifier-key.js';
import { canaryOf } from '../../support/runner/secret-forms.js';
import { startSite } from '../../support/sites/site.js';

const settings = {
  sequencer: { url: 'https://sequencer.example' },
  login: { verifierSecret: generateKeyPair().secret, domain: 'shop-example.com' },
  secret: `${canaryOf('new cookies')},${canaryOf('old cookies')}`,
};
const [token = '', oldToken = ''] = (parseConfig(settings, {}).login?.cookieKeys ?? []).map(doctorToken);

async function ask(
  given: string,
  { path = '/intent', trustProxy = 0, forwardedFor = '', forwardedProto = 'http' } = {},
) {
  const { origin } = await startSite({ ...settings, before: (app) => app.set('trust proxy', trustProxy) });
  const { headers } = await request(origin)
    .post(path)
    .set({ [doctorHeader]: given, 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' })
    .set(forwardedFor === '' ? {} : { 'X-Forwarded-For': forwardedFor, 'X-Forwarded-Proto': forwardedProto })
    .send('{');
  return headers[doctorHeader.toLowerCase()];
}

describe('the doctor learns how its request arrived', () => {
  test.each([
    ['directly', {}, { forwarded: 0, trusted: 0, spoofed: false, proxied: false, encrypted: false, secure: false }],
    [
      'through an untrusted proxy',
      { forwardedFor: '192.0.2.7' },
      { forwarded: 1, trusted: 0, spoofed: false, proxied: true, encrypted: false, secure: false },
    ],
    [
      'with the spoofed address through a proxy that does not overwrite it',
      { forwardedFor: '192.0.2.1', trustProxy: 1 },
      { forwarded: 1, trusted: 1, spoofed: true, proxied: true, encrypted: false, secure: false },
    ],
    [
      'with the spoofed address through a proxy that appends to it',
      { forwardedFor: '192.0.2.1, 198.51.100.4', trustProxy: 1 },
      { forwarded: 2, trusted: 1, spoofed: false, proxied: true, encrypted: false, secure: false },
    ],
  ])('%s', async (_name, path, report) => {
    expect(parseReport(await ask(token, path))).toEqual(report);
  });

  test('with an older secret of the site', async () => {
    expect(parseReport(await ask(oldToken))).toBeDefined();
  });
});

test.each([
  ['an empty token', ''],
  ['a token of another site', doctorToken(new Uint8Array(32))],
])('a client with %s learns nothing', async (_name, given) => {
  expect(await ask(given, { forwardedFor: '192.0.2.7' })).toBeUndefined();
});

test('only POST /intent reports, because no cache keeps its responses', async () => {
  expect(await ask(token, { path: '/session' })).toBeUndefined();
});

test('the token opens no cookie: it differs from the keys that seal them', () => {
  const keys = parseConfig(settings, {}).login?.cookieKeys ?? [];
  expect(keys.map((key) => Buffer.from(key).toString('base64url'))).not.toContain(token);
});
