import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { decodePayload, parseClientSecret } from '../../src/intents/payload.js';
import { signLoginIntent } from '../../src/intents/signed-intent.js';
import { type Signer, signerFromSeed } from '../../src/keys/verifier-key.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { nacl } from '../keys/unsandboxed-nacl.js';
import { rejectedCode } from '../wire/thrown-code.js';
import { field, join } from './hand-written-wire.js';

const seed = Uint8Array.from({ length: 32 }, (_, i) => 3 * i + 1);
const keys = nacl.sign.keyPair.fromSeed(seed);
const verifier = signerFromSeed(seed);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a login intent (interface 2.5, 5.3; protocol 4)', () => {
  test('has the bytes that were computed by hand, signed by verifier and rendezvous', async () => {
    const intent = await signLoginIntent({ domain: 'example.co.uk', verifier });
    const rendezvousSeed = createHash('sha256').update(bs58.decode(intent.clientSecret)).digest();
    const rendezvous = nacl.sign.keyPair.fromSeed(new Uint8Array(rendezvousSeed));
    const head = join(field(1, field(1, 'example.co.uk')), field(4, field(1, keys.publicKey)));
    const tail = field(6, field(1, rendezvous.publicKey));
    const signature = nacl.sign.detached(join(head, tail), keys.secretKey);
    const message = field(10, join(head, field(5, field(1, signature)), tail));
    expect(hex(encode(v1.Message, intent.message))).toBe(hex(message));
    expect(hex(intent.signature)).toBe(hex(nacl.sign.detached(message, rendezvous.secretKey)));
    expect(intent.id).toBe(bs58.encode(rendezvous.publicKey));
    expect(hex(intent.rendezvousKey)).toBe(hex(rendezvous.publicKey));
    expect(decodePayload(parseClientSecret(intent.clientSecret)).kind).toBe('login');
  });

  test('has the same bytes with an asynchronous signer, such as a KMS', async () => {
    const nonce = new Uint8Array(11).fill(1);
    const later: Signer = {
      publicKey: verifier.publicKey,
      sign: async (bytes) => nacl.sign.detached(Uint8Array.from(bytes), keys.secretKey),
    };
    const [one, other] = [
      await signLoginIntent({ domain: 'example.com', verifier }, { nonce }),
      await signLoginIntent({ domain: 'example.com', verifier: later }, { nonce }),
    ];
    expect(hex(encode(v1.Message, other.message))).toBe(hex(encode(v1.Message, one.message)));
    expect(hex(other.signature)).toBe(hex(one.signature));
  });

  test('has a new nonce each time', async () => {
    const intents = await Promise.all(
      Array.from({ length: 300 }, () => signLoginIntent({ domain: 'example.com', verifier })),
    );
    const nonces = intents.map(({ clientSecret }) => hex(parseClientSecret(clientSecret).subarray(9)));
    expect(new Set(nonces).size).toBe(300);
    for (const nonce of nonces) expect(nonce).toHaveLength(22);
  });

  test.each(['www.example.com', 'localhost', 'https://example.com', 'Example.com', '192.0.2.1', ''])(
    'with the domain %j is rejected (4.6)',
    async (domain) => {
      expect(await rejectedCode(signLoginIntent({ domain, verifier }))).toBe('invalid_domain');
    },
  );

  test('with a verifier without a key, or one that signs with another key, is rejected', async () => {
    const sign = (): Uint8Array => new Uint8Array(64);
    expect(await rejectedCode(signLoginIntent({ domain: 'example.com', verifier: { publicKey: '', sign } }))).toBe(
      'invalid_key',
    );
    const { publicKey } = verifier;
    expect(await rejectedCode(signLoginIntent({ domain: 'example.com', verifier: { publicKey, sign } }))).toBe(
      'signer_failed',
    );
  });
});
