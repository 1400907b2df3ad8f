import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Request, Response } from 'express';
import { deriveKey } from '../../keys/key-ring.js';
import type { IntentOwner } from '../encryption.js';

// `import` would parse this CommonJS package twice: see Import in bench/README.md.
const { parseCookie, stringifySetCookie }: typeof import('cookie') = createRequire(import.meta.url)('cookie');

/** A cookie that only this host can read. Its name and attributes depend on the request. */
export type HostCookie = (req: Request) => RequestCookie;

interface RequestCookie {
  read(req: Request): string | undefined;
  /** Sets the cookie; replaces a value already set on this response. @param maxAgeSeconds default: until the browser is closed */
  write(res: Response, value: string, maxAgeSeconds?: number): void;
  clear(res: Response): void;
}

/**
 * A `__Host-` cookie (RFC 6265bis section 4.1.3.2) with `Secure` on https, and a plain cookie on http, where browsers reject
 * that prefix.
 * @param isSecure whether the site is known to use https, even if a request appears as http
 */
export function hostCookie(name: string, isSecure: boolean): HostCookie {
  const [guarded, plain] = [requestCookie(`__Host-${name}`, true), requestCookie(name, false)];
  return (req) => (isSecure || req.secure ? guarded : plain);
}

function requestCookie(fullName: string, secure: boolean): RequestCookie {
  const head = `${fullName}=`;
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  // The attributes after value and age are constant, so they are serialized once.
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

/** A browser, identified by a random cookie. The server stores only the hash of the cookie. */
export interface BrowserIdentity extends IntentOwner {
  /** SHA-256 of the cookie, 32 bytes. Identifies the browser. */
  readonly hash: Uint8Array;
  /** Derives a key of 32 bytes from the cookie (HKDF-SHA-256, RFC 5869). It exists only during requests of the browser. */
  deriveKey(purpose: string): Uint8Array;
  /** Sets the lifetime of the cookie, which otherwise ends when the browser is closed. */
  extendCookie(maxAgeSeconds: number): void;
}

const tokenForm = /^[\w-]{43}$/;

/** The browser of a request. Sets the cookie on the response if the browser has none. */
export function ensureBrowser(cookieOf: HostCookie, req: Request, res: Response): BrowserIdentity {
  const cookie = cookieOf(req);
  const known = tokenOf(cookie, req);
  const token = known ?? randomBytes(32).toString('base64url');
  if (known === undefined) cookie.write(res, token);
  return new TokenBrowser(token, cookie, res, known === undefined);
}

/**
 * Sets the cookie of a browser that has none, before it pays. Skips requests on which browsers send no `SameSite=Lax` cookie,
 * such as a form or an image of another site: the browser may have a cookie, which must not be replaced.
 */
export function setMissingCookie(cookieOf: HostCookie, req: Request, res: Response): void {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': dest } = req.headers;
  const isSafe = req.method === 'GET' || req.method === 'HEAD';
  if (isSafe && (site !== 'cross-site' || dest === 'document')) ensureBrowser(cookieOf, req, res);
}

// A class, because V8 gives each object literal with a getter its own shape, which retains what the getter captures. The
// response would stay in memory until the next major collection, at a cost of 20 µs per request.
class TokenBrowser implements BrowserIdentity {
  readonly isNew: boolean;
  readonly #token: string;
  readonly #cookie: RequestCookie;
  readonly #res: Response;
  #hash: Uint8Array | undefined;

  constructor(token: string, cookie: RequestCookie, res: Response, isNew = false) {
    this.isNew = isNew;
    this.#token = token;
    this.#cookie = cookie;
    this.#res = res;
  }

  get hash(): Uint8Array {
    this.#hash ??= hashOf(this.#token);
    return this.#hash;
  }

  deriveKey(purpose: string): Uint8Array {
    return deriveKey(this.#token, purpose);
  }

  extendCookie(maxAgeSeconds: number): void {
    this.#cookie.write(this.#res, this.#token, maxAgeSeconds);
  }
}

/** The browser of a request; undefined without a cookie of the router. Sets no cookie. */
export function findBrowser(cookieOf: HostCookie, req: Request, res: Response): BrowserIdentity | undefined {
  const cookie = cookieOf(req);
  const token = tokenOf(cookie, req);
  return token === undefined ? undefined : new TokenBrowser(token, cookie, res);
}

/** The hash of the browser's cookie, 32 bytes; undefined without a cookie of the router. */
export function browserHashOf(cookieOf: HostCookie, req: Request): Uint8Array | undefined {
  const token = tokenOf(cookieOf(req), req);
  return token === undefined ? undefined : hashOf(token);
}

export function sameBrowser(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

function tokenOf(cookie: RequestCookie, req: Request): string | undefined {
  const token = cookie.read(req);
  return token !== undefined && tokenForm.test(token) ? token : undefined;
}

function hashOf(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}
