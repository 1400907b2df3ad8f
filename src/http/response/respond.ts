import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Request, Response } from 'express';

// `require` loads it faster than `import`: see Import in bench/README.md.
const helmet: typeof import('helmet').default = createRequire(import.meta.url)('helmet');

type ResponseHeaders = Readonly<Record<string, string>>;

/** The headers of helmet for a response that is not a page, computed once. Without HSTS, which is for the site to decide. */
export function securityHeaders(): ResponseHeaders {
  const headers: Record<string, string> = {};
  const recorder = {
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
    removeHeader: (name: string) => {
      delete headers[name];
    },
  };
  const middleware = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  });
  // helmet calls only these two methods of the response.
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error;
  });
  return Object.freeze(headers);
}

/** In lower case, because Node converts each name of each response, which takes 1 µs. */
const baseHeaders = Object.entries({ ...securityHeaders(), 'cache-control': 'no-store' }).map(
  ([name, value]) => [name.toLowerCase(), value] as const,
);

export const jsonType = 'application/json; charset=utf-8';

/** Sends JSON. Not cacheable unless `headers` allow it. */
export function sendJson(res: Response, status: number, body: unknown, headers: ResponseHeaders = {}): void {
  const text = JSON.stringify(body);
  setHeaders(res, status, { 'Content-Type': jsonType, ...headers });
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // A string is sent with the headers in one packet.
  res.end(text);
}

export function sendBytes(res: Response, status: number, bytes: Buffer, headers: ResponseHeaders): void {
  setHeaders(res, status, headers);
  res.setHeader('Content-Length', bytes.length);
  res.end(bytes);
}

interface CacheableHeaders extends ResponseHeaders {
  readonly ETag: string;
  readonly 'Content-Type': string;
}

/** Clients see a new version within minutes. */
const cacheFiveMinutes = 'public, max-age=300';

/** Sends bytes that clients may cache, or 304 if the client has them. */
export function sendCacheable(req: Request, res: Response, bytes: Buffer, headers: CacheableHeaders): void {
  const { 'Cache-Control': cacheControl = cacheFiveMinutes } = headers;
  res.setHeader('ETag', headers.ETag);
  if (req.fresh) sendEmpty(res, 304, { 'Cache-Control': cacheControl });
  else sendBytes(res, 200, bytes, { 'Cache-Control': cacheControl, ...headers });
}

export function sendEmpty(res: Response, status: number, headers: ResponseHeaders = {}): void {
  setHeaders(res, status, headers);
  res.end();
}

/** Prevents caching of a private page, unless the app sets its own `Cache-Control`. */
export function preventCaching(res: Response): void {
  if (!res.headersSent && !res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'private, no-store');
}

/** Sets each header separately: half the cost of `writeHead` if Express has already set a header. */
function setHeaders(res: Response, status: number, headers: ResponseHeaders): void {
  res.removeHeader('X-Powered-By');
  res.statusCode = status;
  for (const [name, value] of baseHeaders) res.setHeader(name, value);
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
}
