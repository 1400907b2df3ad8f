import type { Response } from 'express';
import { securityHeaders } from './security-headers.js';

const base = Object.entries({ ...securityHeaders(), 'Cache-Control': 'no-store' });
const json = 'application/json; charset=utf-8';

/** Ends the response with JSON; nothing of ours is cached unless `headers` say so. */
export function sendJson(
  res: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  setHeaders(res, status, { 'Content-Type': json, ...headers });
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // Text goes out together with the headers, in one piece.
  res.end(text);
}

/** Ends the response with a body whose type `headers` tell. */
export function sendBytes(
  res: Response,
  status: number,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  setHeaders(res, status, headers);
  res.setHeader('Content-Length', bytes.length);
  res.end(bytes);
}

/** Ends the response without a body. */
export function sendEmpty(res: Response, status: number, headers: Readonly<Record<string, string>> = {}): void {
  setHeaders(res, status, headers);
  res.end();
}

/** Keeps a page of one visitor out of every cache, unless the app has set or sets a `Cache-Control` of its own. */
export function keepPrivate(res: Response): void {
  if (!res.headersSent && !res.hasHeader('Cache-Control')) res.setHeader('Cache-Control', 'private, no-store');
}

/** One by one, which costs half as much as handing all of them to `writeHead` where Express has set one before. */
function setHeaders(res: Response, status: number, headers: Readonly<Record<string, string>>): void {
  res.removeHeader('X-Powered-By');
  res.statusCode = status;
  for (const [name, value] of base) res.setHeader(name, value);
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '');
}
