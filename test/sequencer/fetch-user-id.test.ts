import { createSigner, generateKeyPair } from '../../src/keys/verifier-key.js';
import { observedClient } from '../../src/sequencer/intent-client.js';
import { inTurn, playingTransport } from '../support/transports/playing-transport.js';

const intent = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const notFound = Uint8Array.of(0x08, 1);
const found = Uint8Array.of(0x12, 0x22, 0x0a, 0x20, ...new Uint8Array(32));

test('fetchUserId sends the call with an earlier key, even if the client is closed during the first call', async () => {
  let answer = (_bytes: Uint8Array): void => undefined;
  const first = new Promise<Uint8Array>((resolve) => {
    answer = resolve;
  });
  const transport = playingTransport(
    inTurn(
      () => first,
      () => found,
    ),
  );
  const { client, fetchUserId } = observedClient({ transport });
  const signers = [generateKeyPair(), generateKeyPair()].map(({ secret }) => createSigner(secret));
  const userId = fetchUserId(signers, intent);
  const closed = client.close();
  answer(notFound);
  expect(await userId).toBe('1'.repeat(32));
  await closed;
  expect([transport.calls.length, transport.closed]).toEqual([2, 1]);
});
