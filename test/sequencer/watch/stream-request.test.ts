import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import { field, join } from '../../intents/hand-written-wire.js';

// The intents of protocol section 7.
const knownIntents = [
  ['payment', '028c0500000000000001080f161d242b32394047', '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH'],
  ['login', '030000000000000000050c131a21282f363d444b', 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht'],
] as const;

it.each(knownIntents)('the stream request of a %s has the known bytes (protocol 4, 5)', (_kind, payload, id) => {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(
    createHash('sha256').update(Buffer.from(payload, 'hex')).digest(),
  );
  const unsigned = field(1, field(1, publicKey));
  const signed = join(unsigned, field(2, field(1, nacl.sign.detached(unsigned, secretKey))));
  const request = signStreamRequest(id, bs58.encode(Buffer.from(payload, 'hex')));
  expect(request).toEqual({ rendezvousKey: publicKey, body: expect.anything() });
  expect(Buffer.from(request.body).toString('hex')).toBe(Buffer.from(signed).toString('hex'));
});

it('the stream request is not signed for another intent', () => {
  const [[, payload], [, , otherId]] = knownIntents;
  const sign = (id: string, secret: string) => () => signStreamRequest(id, secret);
  const secret = bs58.encode(Buffer.from(payload, 'hex'));
  expect(sign(otherId, secret)).toThrow(expect.objectContaining({ code: 'invalid_client_secret' }));
  expect(sign(otherId, `${secret}1`)).toThrow(expect.objectContaining({ code: 'invalid_client_secret' }));
  expect(sign(otherId, secret)).not.toThrow(secret);
});
