import type { Response } from 'express';
import { securityHeaders } from './security-headers.js';

const base = { ...securityHeaders(), 'Cache-Control': 'no-store' };

/** Ends the response with JSON; nothing of ours is cached unless `headers` say so. */
export function sendJson(
  res: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  sendBytes(res, status, bytes, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
}

/** Ends the response with a body whose type `headers` tell. */
export function sendBytes(
  res: Response,
  status: number,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  res.removeHeader('X-Powered-By');
  res.writeHead(status, { ...base, 'Content-Length': bytes.length, ...headers });
  res.end(bytes);
}

/** Ends the response without a body. */
export function sendEmpty(res: Response, status: number, headers: Readonly<Record<string, string>> = {}): void {
  res.removeHeader('X-Powered-By');
  res.writeHead(status, { ...base, ...headers });
  res.end();
}
