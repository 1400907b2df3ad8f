import request from 'supertest';
import { generateKeyPair } from '../../../src/keys/verifier-key.js';
import { expressVersions, startSite, verifierSecret } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const path = '/.well-known/service-payments.json';
const base = { sequencer: { url: 'https://sequencer.example', transport: countingTransport() } };

test.each(Object.entries(expressVersions))(
  'GET /.well-known/service-payments.json answers with the public key on %s (interface 2.7, 4.6)',
  async (_name, factory) => {
    const { origin } = await startSite({ ...base, factory });
    const file = await request(origin).get(path).expect(200);
    expect(file.headers['content-type']).toMatch(/^application\/json/);
    expect(file.body).toEqual({ public_keys: ['FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF'] });
  },
);

test('the key file lists all keys of a rotation, the signing key first, and no secret', async () => {
  const old = generateKeyPair();
  const { origin } = await startSite(base, { login: { verifierSecret: `${verifierSecret}, ${old.secret}` } });
  const { body, text } = await request(origin).get(path).expect(200);
  expect(body.public_keys).toEqual(['FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF', old.publicKey]);
  expect(text).not.toContain(old.secret);
});

describe('the key file', () => {
  test.each([
    ['its ETag', (etag: string) => etag],
    ['an asterisk', () => '*'],
  ])('answers 304 when If-None-Match is %s', async (_name, tags) => {
    const { origin } = await startSite(base);
    const { headers } = await request(origin).get(path).expect(200);
    expect(headers['cache-control']).toBe('public, max-age=300');
    const again = await request(origin)
      .get(path)
      .set('If-None-Match', tags(headers.etag as string))
      .expect(304);
    expect([again.text, again.headers.etag]).toEqual(['', headers.etag]);
    await request(origin).get(path).set('If-None-Match', '"another"').expect(200);
  });
});
