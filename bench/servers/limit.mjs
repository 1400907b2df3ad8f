// The variant `limit`: hand-written `node:http` without checks, limits, headers or cookies. It is not fit for production. The
// other variants are compared with it. With `sameAnswer` it sends the headers and the cookie of ours.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { securityHeaders } from '../../build/http/response/respond.js';
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

export default function limit({ url, domain, destination, verifierSeed, sameAnswer = false }) {
  const call = rawCalls(url);
  const verifier = keyPairOf(Buffer.from(verifierSeed, 'hex'));
  const account = fromBase58(destination);
  const sealing = randomBytes(32);
  const publicKeys = JSON.stringify({ public_keys: [base58(verifier.publicKey)] });

  const send = (res, status, text, headers) => {
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length, ...headers });
    res.end(text);
  };

  const headers = { ...securityHeaders(), 'Cache-Control': 'no-store' };
  function newBrowser() {
    const token = randomBytes(32).toString('base64url');
    hash('sha256', token, 'buffer');
    return { ...headers, 'Set-Cookie': `intent=${token}; Path=/; HttpOnly; SameSite=Lax` };
  }

  function create(res, body) {
    const isLogin = JSON.parse(body).mode === 'login';
    const { secret, request } = isLogin ? newLogin(domain, verifier) : newPayment(account);
    call(envelope('Intents', 'createIntent', request), (answer) => {
      if (answer && isOk(answer)) send(res, 201, `{"client_secret":"${secret}"}`, sameAnswer ? newBrowser() : {});
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

  function seal(text) {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
    return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  function opened(sealed) {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
  }

  function withBody(req, use) {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk.latin1Slice();
    });
    req.on('end', () => use(body));
  }

  return createServer((req, res) => {
    const { url: path, method } = req;
    if (path === '/hello') return send(res, 200, '"Hello"');
    if (path === '/intent') return withBody(req, (body) => create(res, body));
    if (path.startsWith('/status/')) return showStatus(res, path.slice(8));
    if (path === '/.well-known/service-payments.json') return send(res, 200, publicKeys);
    if (path === '/session' && method === 'POST') {
      return withBody(req, () => send(res, 200, '{}', { 'Set-Cookie': `session=${seal('user')}` }));
    }
    if (path === '/account') return send(res, 200, `"Hello ${opened(req.headers.cookie.slice('session='.length))}"`);
    return send(res, 404, '{}');
  });
}
