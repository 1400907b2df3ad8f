import { createHash } from 'node:crypto';
import { sendEmpty, sendJson } from '../response/respond.js';
import type { Handler } from '../router-context.js';

/** Wallets cache the file, and see a new key within minutes. */
const maxAgeSeconds = 300;

/** `GET /.well-known/service-payments.json`: the verifier keys (interface sections 2.7 and 4.6). */
export function keyFileHandler(publicKeys: readonly string[]): Handler {
  const file = { public_keys: publicKeys };
  const hash = createHash('sha256').update(JSON.stringify(file)).digest('base64url');
  const headers = { ETag: `"${hash}"`, 'Cache-Control': `public, max-age=${maxAgeSeconds}` };
  return (req, res) => {
    res.setHeader('ETag', headers.ETag);
    if (req.fresh) sendEmpty(res, 304, headers);
    else sendJson(res, 200, file, headers);
  };
}
