import { createHash } from 'node:crypto';
import { hasAlready } from '../request/has-already.js';
import { sendEmpty, sendJson } from '../response/respond.js';
import type { Handler } from '../router-context.js';

/** Wallets need not ask at every login, and yet learn of a new key within minutes. */
const maxAgeSeconds = 300;

/** `GET /.well-known/service-payments.json`: the verifier keys (interface sections 2.7 and 4.6). */
export function keyFileHandler(publicKeys: readonly string[]): Handler {
  const file = { public_keys: publicKeys };
  const hash = createHash('sha256').update(JSON.stringify(file)).digest('base64url');
  const headers = { ETag: `"${hash}"`, 'Cache-Control': `public, max-age=${maxAgeSeconds}` };
  return (req, res) => {
    if (hasAlready(req, hash)) sendEmpty(res, 304, headers);
    else sendJson(res, 200, file, headers);
  };
}
