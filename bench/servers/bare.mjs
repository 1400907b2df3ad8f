// The variant `one middleware`: the minimum cost of payments and their status in an Express app. It has a hand-written codec,
// uses undici, and has no checks and no limits. It sends the headers and the cookie of ours.
import { hash, randomBytes } from 'node:crypto';
import * as http from 'node:http';
import express from 'express';
import { Pool } from 'undici';
import { securityHeaders } from '../../build/http/response/respond.js';
import * as intents from '../../build/index.js';
import { bodyOf, envelope, fromBase58, isOk, newPayment } from './hand-codec.mjs';

export default function bare({ url, destination, createServer = false }) {
  const account = fromBase58(destination);
  const pool = new Pool(url, { connections: 256 });
  const base = { ...securityHeaders(), 'Cache-Control': 'no-store' };

  const newBrowser = () => {
    const token = randomBytes(32).toString('base64url');
    hash('sha256', token, 'buffer');
    return { ...base, 'Set-Cookie': `intent=${token}; Path=/; HttpOnly; SameSite=Lax` };
  };

  function call(body, done) {
    const chunks = [];
    pool.dispatch(
      { method: 'POST', path: '/v1/api', headers: { 'content-type': 'application/octet-stream' }, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => done(Buffer.concat(chunks)),
        onResponseError: () => done(undefined),
      },
    );
  }

  function send(res, status, text, headers) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.removeHeader('X-Powered-By');
    res.statusCode = status;
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Content-Length', text.length);
    res.end(text);
  }

  function create(res, body) {
    JSON.parse(body);
    const { secret, request } = newPayment(account);
    call(envelope('Intents', 'createIntent', request), (answer) => {
      if (answer && isOk(answer)) send(res, 201, `{"client_secret":"${secret}"}`, newBrowser());
      else send(res, 502, '{}', base);
    });
  }

  function showStatus(res, id) {
    const request = Buffer.concat([Buffer.from('0a220a20', 'hex'), fromBase58(id)]);
    call(envelope('MicroPayment', 'getStatus', request), (answer) => {
      if (!answer || !isOk(answer)) return send(res, 502, '{}', base);
      const flags = [false, false, false];
      const body = bodyOf(answer);
      for (let at = 0; at < body.length; at += 2) flags[(body[at] >> 3) - 1] = body[at + 1] === 1;
      const [exists, scanned, submitted] = flags;
      const text = `{"exists":${exists},"code_scanned":${scanned},"intent_submitted":${submitted}}`;
      return send(res, 200, text, base);
    });
  }

  const app = express();
  app.use((req, res, next) => {
    if (req.url.startsWith('/status/')) return showStatus(res, req.url.slice(8));
    if (req.url !== '/intent') return next();
    let body = '';
    req.on('data', (chunk) => {
      body += chunk.latin1Slice();
    });
    return req.on('end', () => create(res, body));
  });
  return (createServer ? intents : http).createServer(app);
}
