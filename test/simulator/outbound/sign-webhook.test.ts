import { EventEmitter, once } from 'node:events';
import { createWebhookVerifier } from '../../../src/http/webhook/verify-webhook.js';
import { parseIntentId } from '../../../src/keys/base58.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { call, closeAll, created, opened, payment, serve, start } from '../fixture.js';

afterEach(closeAll);

async function paid() {
  const simulator = await start();
  const { id, clientSecret } = await created(simulator.url, payment());
  const verify = createWebhookVerifier({
    webhookPublicKeys: async () => [simulator.webhookPublicKey],
    now: simulator.clock.now,
  });
  return { simulator, id, clientSecret, verify };
}

test('signWebhook returns the call that the sequencer makes', async () => {
  const { simulator, id, clientSecret } = await paid();
  const calls: string[] = [];
  const site = new EventEmitter();
  const called = once(site, 'called');
  const origin = await serve(async (req, res) => {
    req.on('data', (chunk) => calls.push(String(chunk)));
    await once(req, 'end');
    res.end();
    site.emit('called');
  });
  const registration = encode(v1.RegisterWebhookRequest, {
    intentId: { value: parseIntentId(id) },
    url: `${origin}/hook`,
  });
  const answer = opened(await call(simulator.url, operations.registerWebhook, registration));
  expect(decode(v1.RegisterWebhookResponse, answer).result).toBe(v1.RegisterWebhookResponse.Result.OK);
  await simulator.wallet().pay(clientSecret);
  await called;
  const { headers, body } = await simulator.signWebhook(id);
  expect(calls).toEqual([body]);
  expect(headers).toEqual({ 'content-type': 'application/jwt' });
});

test('a site accepts the call of signWebhook, and refuses every invalid variation', async () => {
  const { simulator, id, verify } = await paid();
  expect(await verify((await simulator.signWebhook(id)).body)).toMatchObject({ intentId: id });
  for (const invalid of ['forged', 'altered', 'expired', 'unsigned'] as const) {
    const { body } = await simulator.signWebhook(id, { invalid });
    await expect(verify(body)).rejects.toMatchObject({ code: 'invalid_webhook' });
  }
});
