import { type CreatedIntent, createIntentClient, generateKey, type IntentClient } from '../../src/index.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { eventually } from '../support/eventually.js';
import { type StreamRelay, startStreamRelay } from '../support/network/stream-relay.js';

let sequencer: Sequencer;
let relay: StreamRelay;
let client: IntentClient;
let intent: CreatedIntent;

beforeEach(async () => {
  sequencer = await startSequencer();
  relay = await startStreamRelay(sequencer.url);
  client = createIntentClient({ url: relay.url });
  intent = await client.paymentIntents.create({ destination: generateKey().publicKey, amount: '1', currency: 'usd' });
});
afterEach(async () => {
  await client.close();
  await relay.close();
  await sequencer.close();
});

it('a watch whose stream is cut again and again loses nothing and doubles nothing', async () => {
  const kinds: string[] = [];
  const watching = (async () => {
    for await (const { kind } of client.watch(intent)) kinds.push(kind);
  })();
  const wallet = sequencer.wallet();
  await eventually(() => relay.open === 1);
  await wallet.scan(intent.clientSecret);
  await eventually(() => kinds.length === 1);
  for (let cut = 1; cut <= 3; cut += 1) {
    relay.cut();
    // While there is no stream.
    await wallet.reject(intent.clientSecret);
    await eventually(() => relay.opened > cut && kinds.length === cut + 1);
  }
  relay.cut();
  await wallet.pay(intent.clientSecret);
  await watching;
  expect(kinds).toEqual(['code_scanned', ...new Array(3).fill('client_rejected_payment'), 'intent_submitted']);
  await relay.idle();
});

it('twenty watches that are aborted leave no socket', async () => {
  const abort = new AbortController();
  const watches = Array.from({ length: 20 }, async () => {
    for await (const { kind } of client.watch(intent, { signal: abort.signal })) expect(kind).toBe('code_scanned');
  });
  await eventually(() => relay.open === 20);
  await sequencer.wallet().scan(intent.clientSecret);
  abort.abort();
  await Promise.all(watches);
  await relay.idle();
});
