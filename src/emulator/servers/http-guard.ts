import type { RequestHandler } from 'express';
import { isLoopback } from '../../net/loopback.js';

/** Whether a Host header, if there is one, means this machine, with any port. */
export function isLoopbackHost(host = ''): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, '').toLowerCase());
}

/**
 * Listening on 127.0.0.1 keeps other machines out, not web pages: a stranger's name can be pointed at 127.0.0.1 after
 * its page was loaded. Such a page's requests still carry that name as their Host.
 */
export const requireLoopbackHost: RequestHandler = (req, res, next) => {
  if (isLoopbackHost(req.headers.host)) return next();
  res.status(403).type('text/plain').send('The embedded sequencer answers on 127.0.0.1 and localhost only.');
};

/** Lets a request of a page pass only when that page is the wallet's own; a program sends no Origin. */
export const requireOwnOrigin: RequestHandler = (req, res, next) => {
  const { origin, host } = req.headers;
  if (origin === undefined || origin === `http://${host}`) return next();
  res.status(403).json({ error: { code: 'cross_site_request', message: 'This is for the wallet page alone.' } });
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

/** Headers of every answer: nothing inline, nothing from elsewhere, nothing kept. */
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
