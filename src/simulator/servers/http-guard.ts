import type { RequestHandler } from 'express';
import { isLoopback } from '../../net/url.js';

export function isLoopbackHost(host = ''): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, '').toLowerCase());
}

/** Prevents DNS rebinding: requests from a foreign page have its domain as their Host, even if it resolves to this machine. */
export const requireLoopbackHost: RequestHandler = (req, res, next) => {
  if (isLoopbackHost(req.headers.host)) return next();
  res
    .status(403)
    .type('text/plain')
    .send('The simulator accepts requests to this machine only, such as to 127.0.0.1 or localhost.');
};

// form-action and base-uri do not fall back to default-src.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every response: no inline code, no other origins, no caching. */
export const setSafeHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
  next();
};
