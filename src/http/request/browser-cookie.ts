import { hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { randomBytes } from '../../keys/random-bytes.js';

/** A cookie only our own server can read, bound to this host. The prefix needs https, so development goes without. */
export interface HostCookie {
  read(req: Request): string | undefined;
  /**
   * Writes it, in place of what was written with the same answer before.
   * @param maxAgeSeconds without it the cookie lasts as long as the browser's session
   */
  write(res: Response, value: string, maxAgeSeconds?: number): void;
  clear(res: Response): void;
}

/**
 * A `__Host-` cookie (RFC 6265bis section 4.1.3.2) with `Secure` on every site that is served over https, and a plain one
 * over http.
 * @param isSecure whether the site is known to be served over https, however a request seems to come
 */
export function hostCookie(name: string, isSecure: boolean): HostCookie {
  const [guarded, plain] = [oneCookie(`__Host-${name}`, true), oneCookie(name, false)];
  const cookieOf = (req: Request | undefined): HostCookie => (isSecure || req?.secure ? guarded : plain);
  return {
    read: (req) => cookieOf(req).read(req),
    write: (res, value, maxAgeSeconds) => cookieOf(res.req).write(res, value, maxAgeSeconds),
    clear: (res) => cookieOf(res.req).clear(res),
  };
}

function oneCookie(fullName: string, secure: boolean): HostCookie {
  const head = `${fullName}=`;
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  // The same each time but for what comes first: the value and the age.
  const tail = stringifySetCookie({ name: fullName, value: '', ...attributes }).slice(head.length);
  const write = (res: Response, value: string, maxAgeSeconds?: number): void => {
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
    const cookie = `${head}${encodeURIComponent(value)}${age}${tail}`;
    const others = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
    res.setHeader('Set-Cookie', [...others.filter((other) => !other.startsWith(head)), cookie]);
  };
  return {
    read: ({ headers: { cookie } }) => (cookie === undefined ? undefined : parseCookie(cookie)[fullName]),
    write,
    clear: (res) => write(res, '', 0),
  };
}

/** A browser that is known again by a random cookie. The cookie itself is kept nowhere. */
export interface KnownBrowser {
  /** SHA-256 of the cookie, 32 bytes: what the browser is known by. */
  readonly hash: Uint8Array;
  /** A key of 32 bytes that comes of the cookie, and so is there only while its browser asks (HKDF-SHA-256, RFC 5869). */
  deriveKey(purpose: string): Uint8Array;
  /** Has the browser keep its cookie for so long, and not only until it is closed. */
  keep(maxAgeSeconds: number): void;
}

/** 256 random bits as base64url. */
const tokenForm = /^[\w-]{43}$/;

/** Knows the browser by its cookie; one that has none gets it with the answer, whatever that will be. */
export function rememberBrowser(cookie: HostCookie, req: Request, res: Response): KnownBrowser {
  const known = tokenOf(cookie, req);
  const token = known ?? Buffer.from(randomBytes(32)).toString('base64url');
  if (known === undefined) cookie.write(res, token);
  return new TokenBrowser(token, cookie, res);
}

// A class, because the engine gives every object literal with a getter a shape of its own, and each shape keeps what its
// getter can see: the response and all that it holds would stay until the next great collection, for 20 us a request.
class TokenBrowser implements KnownBrowser {
  readonly #token: string;
  readonly #cookie: HostCookie;
  readonly #res: Response;

  constructor(token: string, cookie: HostCookie, res: Response) {
    this.#token = token;
    this.#cookie = cookie;
    this.#res = res;
  }

  get hash(): Uint8Array {
    return hashOf(this.#token);
  }

  deriveKey(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#token, '', purpose, 32));
  }

  keep(maxAgeSeconds: number): void {
    this.#cookie.write(this.#res, this.#token, maxAgeSeconds);
  }
}

/** The browser, where it has a cookie of ours; nothing is written. */
export function knownBrowser(cookie: HostCookie, req: Request, res: Response): KnownBrowser | undefined {
  const token = tokenOf(cookie, req);
  return token === undefined ? undefined : new TokenBrowser(token, cookie, res);
}

/** The hash of the browser's cookie, 32 bytes; undefined when it has none of ours. */
export function browserOf(cookie: HostCookie, req: Request): Uint8Array | undefined {
  const token = tokenOf(cookie, req);
  return token === undefined ? undefined : hashOf(token);
}

/** Compares two hashes in constant time. */
export function sameBrowser(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

function tokenOf(cookie: HostCookie, req: Request): string | undefined {
  const token = cookie.read(req);
  return token !== undefined && tokenForm.test(token) ? token : undefined;
}

function hashOf(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}
