// The variant `usual`: a typical Express app with common libraries: global fetch, protobufjs reflection over the published proto file,
// and pure JavaScript for Ed25519.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import express from 'express';
import protobuf from 'protobufjs';
import nacl from 'tweetnacl';

/** Libraries for Ed25519. A seed has 32 bytes. */
const libraries = {
  curves: ed25519,
  tweetnacl: {
    getPublicKey: (seed) => nacl.sign.keyPair.fromSeed(seed).publicKey,
    sign: (bytes, seed) => nacl.sign.detached(bytes, nacl.sign.keyPair.fromSeed(seed).secretKey),
  },
};

export default async function usual({ url, domain, destination, verifierSeed, signing = 'curves' }) {
  const proto = await protobuf.load(new URL('../../proto/intents.proto', import.meta.url).pathname);
  const type = (name) => proto.lookupType(`intents.v1.${name}`);
  const [Message, Request, Response] = ['Message', 'Request', 'Response'].map(type);
  const [GetStatusRequest, GetStatusResponse, RequestToLogin] = [
    'GetStatusRequest',
    'GetStatusResponse',
    'RequestToLogin',
  ].map(type);
  const { getPublicKey, sign } = libraries[signing];
  const verifier = Buffer.from(verifierSeed, 'hex');

  async function call(service, method, body) {
    const response = await fetch(`${url}/v1/api`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: Request.encode({ service, method, body }).finish(),
    });
    if (!response.ok) throw new Error(`The service answered ${response.status}.`);
    const answer = Response.decode(new Uint8Array(await response.arrayBuffer()));
    if (answer.result !== 0) throw new Error(answer.message);
    return answer.body;
  }

  function payment(rendezvousKey) {
    return {
      requestToReceiveBill: {
        requestorAccount: { value: bs58.decode(destination) },
        partial: { currency: 'usd', nativeAmount: 4.5 },
        rendezvousKey: { value: rendezvousKey },
      },
    };
  }

  function login(rendezvousKey) {
    const request = {
      domain: { domain },
      verifier: { value: getPublicKey(verifier) },
      rendezvousKey: { value: rendezvousKey },
    };
    const signature = { value: sign(RequestToLogin.encode(request).finish(), verifier) };
    return { requestToLogin: { ...request, signature } };
  }

  const app = express();
  app.use(express.json());
  app.post('/intent', async (req, res) => {
    const isLogin = req.body.mode === 'login';
    const payload = Buffer.alloc(20);
    payload.set(isLogin ? [3] : [2, 140]);
    if (!isLogin) payload.writeUIntLE(450, 2, 6);
    randomBytes(11).copy(payload, 9);
    const seed = createHash('sha256').update(payload).digest();
    const rendezvousKey = getPublicKey(seed);
    const message = isLogin ? login(rendezvousKey) : payment(rendezvousKey);
    const signature = { value: sign(Message.encode(message).finish(), seed) };
    await call(
      'Intents',
      'createIntent',
      Message.encode({ ...message, sendMessageRequestSignature: signature }).finish(),
    );
    res.status(201).json({ client_secret: bs58.encode(payload) });
  });
  app.get('/status/:id', async (req, res) => {
    const request = GetStatusRequest.encode({ intentId: { value: bs58.decode(req.params.id) } }).finish();
    const { exists, codeScanned, intentSubmitted } = GetStatusResponse.decode(
      await call('MicroPayment', 'getStatus', request),
    );
    res.json({ exists, code_scanned: codeScanned, intent_submitted: intentSubmitted });
  });
  app.get('/.well-known/service-payments.json', (_req, res) => {
    res.json({ public_keys: [bs58.encode(getPublicKey(verifier))] });
  });
  app.get('/hello', (_req, res) => res.send('Hello'));
  return createServer(app);
}
