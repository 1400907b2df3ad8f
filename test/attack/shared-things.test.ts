import { parseConfig } from '../../src/config/config.js';
import { createWebhookVerifier } from '../../src/http/webhook/verify-webhook.js';
import type { Database, Queryable } from '../../src/ledger/database/database.js';
import { exportLedger } from '../../src/ledger/intents/export-ledger.js';
import { intentId } from '../support/sites/event-site.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { domain, verifierSecret } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';

describe('two sites that share a verifier key and a domain', () => {
  const keysOf = (origin: string | undefined, secret?: string) =>
    parseConfig(
      { sequencer: { transport: recordingTransport() }, login: { verifierSecret, domain }, origin, secret },
      {},
    ).login?.cookieKeys;

  test('derive different cookie keys from their origins', () => {
    for (const secret of [undefined, 'x'.repeat(32)]) {
      const [shop, staging] = ['https://shop.example', 'https://staging.shop.example'].map((at) => keysOf(at, secret));
      expect(shop).toEqual(keysOf('https://shop.example', secret));
      expect(shop).not.toEqual(staging);
      expect(shop).not.toEqual(keysOf(undefined, secret));
    }
  });
});

describe('a failure to read the keys of the service', () => {
  test('is not cached: the next webhook call reads them again', async () => {
    const key = generateJwtKey();
    let reads = 0;
    const webhookPublicKeys = async () => {
      reads += 1;
      if (reads === 1) throw new Error('The service has not started.');
      return [key.publicKey];
    };
    const verify = createWebhookVerifier({ webhookPublicKeys, now: Date.now });
    const jwt = jwtOf({ intent: intentId, state: 'SUBMITTED' }, key);
    await expect(verify(jwt)).rejects.toThrow('The service has not started.');
    expect(await verify(jwt)).toMatchObject({ intentId });
    await verify(jwt);
    expect(reads).toBe(2);
  });
});

describe('an export of the ledger on a terminal', () => {
  test('has no control characters, and parses to the same text', async () => {
    const order = 'a\u001b]0;owned\u0007b\u009b31mc\u007fd\u202ee\u2028f\u{e0041}g';
    const row = { id: 'x', line: `{"intent":{"metadata":{"order":${JSON.stringify(order)}}}}` };
    const query = async (sql: string) => ({ rows: sql.includes('jsonb_build_object') ? [row] : [{ version: 1 }] });
    const db = { transaction: (work: (tx: Queryable) => unknown) => work({ query } as unknown as Queryable) };
    const lines: string[] = [];
    await exportLedger(db as unknown as Database, async (line) => void lines.push(line));
    expect(lines.join('')).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(lines[1] ?? '').intent.metadata.order).toBe(order);
  });
});
