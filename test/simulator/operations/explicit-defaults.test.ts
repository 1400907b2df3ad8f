import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import type { KeyPair } from '../../../src/keys/ed25519.js';
import { MessageInbox } from '../../../src/sequencer/watch/message-stream.js';
import type { v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { differsByDefaultsOnly } from '../../../src/wire/fields.js';
import { call, closeAll, created, opened, payment, pollBody, reason, start } from '../fixture.js';

// Other encoders write proto3 defaults. A signature covers the bytes as sent (protocol section 4).

afterEach(closeAll);

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** A field of bytes: tag, length, content. */
const field = (number: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(number * 8 + 2, content.length), content]);
};

/** CodeScanned { timestamp { seconds 1700000000, nanos 0 } }: the zero of nanos is written out. */
const scannedAt = hex('0880e2cfaa06 1000');
const codeScanned = field(6, field(1, scannedAt));

/** A sequencer that has a payment, and the key of its rendezvous. */
async function startWithPayment(options = {}): Promise<{ url: string; rendezvous: KeyPair }> {
  const { url } = await start(options);
  const { clientSecret } = await created(url, payment());
  return { url, rendezvous: rendezvousKeyPair(parseClientSecret(clientSecret)) };
}

/** SendMessageRequest { message, rendezvous_key, signature } */
const sendRequest = ({ publicKey }: KeyPair, message: Uint8Array, signature: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.concat([field(1, message), field(2, field(1, publicKey)), field(3, field(1, signature))]));

const send = (
  url: string,
  rendezvous: KeyPair,
  message: Uint8Array,
  signature = rendezvous.sign(message),
): Promise<v1.Response> => call(url, operations.sendMessage, sendRequest(rendezvous, message, signature));

describe('a message that is signed with explicit defaults', () => {
  test('is accepted, and its readers receive it with a valid signature', async () => {
    const { url, rendezvous } = await startWithPayment();
    opened(await send(url, rendezvous, codeScanned));
    await expectHint(url, rendezvous);
  });

  test('is refused if the signature covers other bytes', async () => {
    const { url, rendezvous } = await startWithPayment();
    const canonical = field(6, field(1, hex('0880e2cfaa06')));
    const response = await send(url, rendezvous, codeScanned, rendezvous.sign(canonical));
    expect(reason(response)).toMatch(/not signed by its rendezvous key/);
  });

  test.each([
    ['an unknown field', Buffer.concat([codeScanned, hex('7a01 61')])],
    ['fields out of order', field(6, field(1, hex('1000 0880e2cfaa06')))],
    ['a field twice', field(6, field(1, hex('0800 0880e2cfaa06')))],
    ['a number in a longer form', field(6, field(1, hex('0880e2cfaa06 108000')))],
  ])('is refused with %s, even if signed', async (_name, message) => {
    const { url, rendezvous } = await startWithPayment();
    expect(reason(await send(url, rendezvous, message))).toMatch(/unknown fields or is not in its canonical form/);
  });
});

test.each([
  ['the same', '0801 1a0161', '0801 1a0161', true],
  ['a zero number', '0801 1000 1a0161', '0801 1a0161', true],
  ['an empty text', '0801 1200', '0801', true],
  ['a zero inside', '1204 08011000', '1202 0801', true],
  ['a negative zero', '0801 11 0000000000000080', '0801', false],
  ['another value', '0802', '0801', false],
  ['a longer tag', '880001', '0801', false],
])('%s adds nothing but defaults: %s to %s, %s', (_name, sent, canonical, expected) => {
  expect(differsByDefaultsOnly(hex(sent), hex(canonical))).toBe(expected);
});

async function expectHint(url: string, rendezvous: KeyPair): Promise<void> {
  const body = opened(await call(url, operations.pollMessages, pollBody(rendezvous)));
  expect(Buffer.from(body).includes(codeScanned)).toBe(true);
  // The response has the form of a response of the stream.
  const events = new MessageInbox(rendezvous.publicKey).read(body);
  expect(events).toMatchObject([{ kind: 'code_scanned', timestampMs: 1_700_000_000_000 }]);
}
