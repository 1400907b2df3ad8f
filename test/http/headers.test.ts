import request from 'supertest';
import { countingTransport } from '../support/counting-transport.js';
import { startSite } from '../support/site.js';

const base = { sequencerUrl: 'https://sequencer.example', transport: countingTransport() };

test.each([
  ['GET', '/session', 200],
  ['GET', '/status/abc', 400],
  ['GET', '/.well-known/service-payments.json', 200],
  ['POST', '/intent', 415],
  ['PUT', '/intent', 405],
])('helmet is on our own answers: %s %s', async (method, path, status) => {
  const { origin } = await startSite(base);
  const { headers } = await request(origin)
    [method.toLowerCase() as 'get'](path)
    .set('Sec-Fetch-Site', 'same-origin')
    .expect(status);
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['x-powered-by']).toBeUndefined();
  expect(headers['strict-transport-security']).toBeUndefined();
  expect(headers['access-control-allow-origin']).toBeUndefined();
});

test("the app's own answers are left alone", async () => {
  const { origin } = await startSite({ ...base, after: (app) => app.get('/own', (_req, res) => void res.send('own')) });
  const { headers } = await request(origin).get('/own').expect(200);
  expect(headers['content-security-policy']).toBeUndefined();
  expect(headers['x-powered-by']).toBe('Express');
});
