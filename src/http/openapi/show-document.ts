import { createHash } from 'node:crypto';
import { hasAlready } from '../has-already.js';
import { sendBytes, sendEmpty } from '../respond.js';
import type { Handler } from '../router-context.js';
import type { OpenApiDocument } from './document.js';

/** Tools ask for it again and again while somebody looks at it. */
const maxAgeSeconds = 300;

interface Shown {
  /** The path that the router is mounted under, which its routes come after. */
  readonly baseUrl: string;
  readonly bytes: Buffer;
  readonly hash: string;
}

/** `GET /intent/v1/openapi.json`: the description of the routes, made when it is first asked for. */
export function showDocumentHandler(describe: () => Promise<OpenApiDocument>): Handler {
  let shown: Shown | undefined;
  return async (req, res) => {
    if (shown?.baseUrl !== req.baseUrl) shown = show(await describe(), req.baseUrl);
    const headers = { ETag: `"${shown.hash}"`, 'Cache-Control': `public, max-age=${maxAgeSeconds}` };
    if (hasAlready(req, shown.hash)) return sendEmpty(res, 304, headers);
    sendBytes(res, 200, shown.bytes, { ...headers, 'Content-Type': 'application/json; charset=utf-8' });
  };
}

function show(document: OpenApiDocument, baseUrl: string): Shown {
  const bytes = Buffer.from(JSON.stringify(baseUrl === '' ? document : { ...document, servers: [{ url: baseUrl }] }));
  return { baseUrl, bytes, hash: createHash('sha256').update(bytes).digest('base64url') };
}
