import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from 'express';
import helmet from 'helmet';

/** Header names and values, ready to be written. */
type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * The headers that helmet sets on an answer that is data and never a page, computed once instead of for every request.
 * HSTS applies to the whole site and its subdomains, so it is left to the site.
 */
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
  // helmet uses nothing of the two but the methods that set and remove headers.
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error;
  });
  return Object.freeze(headers);
}

const baseHeaders = Object.entries({ ...securityHeaders(), 'Cache-Control': 'no-store' });

/** Answers with JSON. Nothing is cached unless `headers` allow it. */
export function sendJson(res: Response, status: number, body: unknown, headers: ResponseHeaders = {}): void {
  const text = JSON.stringify(body);
  setHeaders(res, status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // Text is sent together with the headers, in one packet.
  res.end(text);
}

/** Answers with bytes, whose type `headers` name. */
export function sendBytes(res: Response, status: number, bytes: Buffer, headers: ResponseHeaders): void {
  setHeaders(res, status, headers);
  res.setHeader('Content-Length', bytes.length);
  res.end(bytes);
}

/** Answers without a body. */
export function sendEmpty(res: Response, status: number, headers: ResponseHeaders = {}): void {
  setHeaders(res, status, headers);
  res.end();
}

/** Keeps a page of one visitor out of caches, unless the app has set or sets a `Cache-Control` of its own. */
export function keepPrivate(res: Response): void {
  if (!res.headersSent && !res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'private, no-store');
}

/** One by one: this costs half as much as `writeHead` where Express has set a header before. */
function setHeaders(res: Response, status: number, headers: ResponseHeaders): void {
  res.removeHeader('X-Powered-By');
  res.statusCode = status;
  for (const [name, value] of baseHeaders) res.setHeader(name, value);
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
}
