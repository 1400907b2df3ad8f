import { hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';
import { randomBytes } from '../../keys/random-bytes.js';

/** A cookie that only this host can read. The `__Host-` prefix needs https, so a site on http goes without it. */
export interface HostCookie {
  read(req: Request): string | undefined;
  /**
   * Sets the cookie; replaces a value that was set with the same answer before.
   * @param maxAgeSeconds undefined: until the browser is closed
   */
  write(res: Response, value: string, maxAgeSeconds?: number): void;
  clear(res: Response): void;
}

/**
 * A `__Host-` cookie (RFC 6265bis section 4.1.3.2) with `Secure` on every site that is served over https, and a plain one
 * over http.
 * @param isSecure whether the site is known to be served over https, whatever a request looks like
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
  // The attributes after the value and the age are always the same, so they are serialized once.
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

/** A browser that is recognized by a random cookie. The cookie itself is stored nowhere. */
export interface KnownBrowser {
  /** SHA-256 of the cookie, 32 bytes: identifies the browser. */
  readonly hash: Uint8Array;
  /** Derives a key of 32 bytes from the cookie (HKDF-SHA-256, RFC 5869), so it exists only during requests of the browser. */
  deriveKey(purpose: string): Uint8Array;
  /** Extends the life of the cookie, which otherwise ends when the browser is closed. */
  keep(maxAgeSeconds: number): void;
}

/** 256 random bits as base64url. */
const tokenForm = /^[\w-]{43}$/;

/** The browser of a request. One without a cookie of ours gets it with the answer, whatever that will be. */
export function rememberBrowser(cookie: HostCookie, req: Request, res: Response): KnownBrowser {
  const known = tokenOf(cookie, req);
  const token = known ?? Buffer.from(randomBytes(32)).toString('base64url');
  if (known === undefined) cookie.write(res, token);
  return new TokenBrowser(token, cookie, res);
}

// A class, because V8 gives every object literal with a getter a shape of its own, and each shape retains what the getter
// captures: the response and all that it holds would stay until the next major collection, for 20 us a request.
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

/** The browser of a request; undefined without a cookie of ours. Sets no cookie. */
export function knownBrowser(cookie: HostCookie, req: Request, res: Response): KnownBrowser | undefined {
  const token = tokenOf(cookie, req);
  return token === undefined ? undefined : new TokenBrowser(token, cookie, res);
}

/** The hash of the browser's cookie, 32 bytes; undefined without a cookie of ours. */
export function browserHashOf(cookie: HostCookie, req: Request): Uint8Array | undefined {
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
