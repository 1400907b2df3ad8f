import { EventEmitter, once } from 'node:events';
import { createWebhookVerifier } from '../../../src/http/webhook/verify-webhook.js';
import { parseIntentId } from '../../../src/keys/base58.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { call, closeAll, created, opened, payment, serve, start } from '../fixture.js';

afterEach(closeAll);

async function paid() {
  const sequencer = await start();
  const { id, clientSecret } = await created(sequencer.url, payment());
  const verify = createWebhookVerifier({
    webhookPublicKeys: async () => [sequencer.webhookPublicKey],
    now: sequencer.clock.now,
  });
  return { sequencer, id, clientSecret, verify };
}

test('signWebhook returns the call that the sequencer makes', async () => {
  const { sequencer, id, clientSecret } = await paid();
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
  const answer = opened(await call(sequencer.url, operations.registerWebhook, registration));
  expect(decode(v1.RegisterWebhookResponse, answer).result).toBe(v1.RegisterWebhookResponse.Result.OK);
  await sequencer.wallet().pay(clientSecret);
  await called;
  const { headers, body } = await sequencer.signWebhook(id);
  expect(calls).toEqual([body]);
  expect(headers).toEqual({ 'content-type': 'application/jwt' });
});

test('a site accepts the call of signWebhook, and refuses every invalid variation', async () => {
  const { sequencer, id, verify } = await paid();
  expect(await verify((await sequencer.signWebhook(id)).body)).toMatchObject({ intentId: id });
  for (const invalid of ['forged', 'altered', 'expired', 'unsigned'] as const) {
    const { body } = await sequencer.signWebhook(id, { invalid });
    await expect(verify(body)).rejects.toMatchObject({ code: 'invalid_webhook' });
  }
});
