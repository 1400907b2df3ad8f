import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';

/** A cookie only our own server can read, bound to this host. The prefix needs https, so development goes without. */
export interface HostCookie {
  read(req: Request): string | undefined;
  /** @param maxAgeSeconds without it the cookie lasts as long as the browser's session */
  write(res: Response, value: string, maxAgeSeconds?: number): void;
  clear(res: Response): void;
}

/** `__Host-` cookies (RFC 6265bis section 4.1.3.2) in production, plain ones elsewhere. */
export function hostCookie(name: string, production: boolean): HostCookie {
  const fullName = production ? `__Host-${name}` : name;
  const attributes = { name: fullName, path: '/', httpOnly: true, sameSite: 'lax', secure: production } as const;
  const write = (res: Response, value: string, maxAgeSeconds?: number): void => {
    const maxAge = maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds };
    res.appendHeader('Set-Cookie', stringifySetCookie({ ...attributes, value, ...maxAge }));
  };
  return {
    read: (req) => parseCookie(req.headers.cookie ?? '')[fullName],
    write,
    clear: (res) => write(res, '', 0),
  };
}

/** 256 random bits as base64url. */
const tokenForm = /^[\w-]{43}$/;

/**
 * Knows a browser again by a random cookie of which only the hash is kept.
 * @returns the hash, 32 bytes; the browser gets a cookie when it has none
 */
export function rememberBrowser(cookie: HostCookie, req: Request, res: Response): Uint8Array {
  const known = browserOf(cookie, req);
  if (known) return known;
  const token = randomBytes(32).toString('base64url');
  cookie.write(res, token);
  return hash(token);
}

/** The hash of the browser's cookie, 32 bytes; undefined when it has none of ours. */
export function browserOf(cookie: HostCookie, req: Request): Uint8Array | undefined {
  const token = cookie.read(req);
  return token !== undefined && tokenForm.test(token) ? hash(token) : undefined;
}

/** Compares two hashes in constant time. */
export function sameBrowser(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

function hash(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
