// The variant `limit`: hand-written `node:http` without checks, limits, headers or cookies. It is not fit for production. The
// other variants are compared with it.
import { createServer } from 'node:http';
import {
  base58,
  bodyOf,
  envelope,
  fromBase58,
  isOk,
  keyPairOf,
  newLogin,
  newPayment,
  rawCalls,
} from './hand-codec.mjs';

export default function limit({ url, domain, destination, verifierSeed }) {
  const call = rawCalls(url);
  const verifier = keyPairOf(Buffer.from(verifierSeed, 'hex'));
  const account = fromBase58(destination);
  const publicKeys = JSON.stringify({ public_keys: [base58(verifier.publicKey)] });

  const send = (res, status, text) => {
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    res.end(text);
  };

  function create(res, body) {
    const isLogin = JSON.parse(body).mode === 'login';
    const { secret, request } = isLogin ? newLogin(domain, verifier) : newPayment(account);
    call(envelope('Intents', 'createIntent', request), (answer) => {
      if (answer && isOk(answer)) send(res, 201, `{"client_secret":"${secret}"}`);
      else send(res, 502, '{}');
    });
  }

  function showStatus(res, id) {
    const request = Buffer.concat([Buffer.from('0a220a20', 'hex'), fromBase58(id)]);
    call(envelope('MicroPayment', 'getStatus', request), (answer) => {
      if (!answer || !isOk(answer)) return send(res, 502, '{}');
      const flags = [false, false, false];
      const body = bodyOf(answer);
      for (let at = 0; at < body.length; at += 2) flags[(body[at] >> 3) - 1] = body[at + 1] === 1;
      const [exists, scanned, submitted] = flags;
      return send(res, 200, `{"exists":${exists},"code_scanned":${scanned},"intent_submitted":${submitted}}`);
    });
  }

  function withBody(req, use) {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk.latin1Slice();
    });
    req.on('end', () => use(body));
  }

  return createServer((req, res) => {
    const { url: path } = req;
    if (path === '/hello') return send(res, 200, '"Hello"');
    if (path === '/intent') return withBody(req, (body) => create(res, body));
    if (path.startsWith('/status/')) return showStatus(res, path.slice(8));
    if (path === '/.well-known/service-payments.json') return send(res, 200, publicKeys);
    return send(res, 404, '{}');
  });
}
