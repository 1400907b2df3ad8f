import * as http from 'node:http';
import * as https from 'node:https';
import type { Express } from 'express';
import { ConfigError } from '../errors.js';

export interface ServerOptions extends http.ServerOptions {
  /** Makes it a server of https, with these: `{ key, cert }`. */
  readonly tls?: https.ServerOptions | undefined;
}

/**
 * `http.createServer(app)`, or `https.createServer(tls, app)`, for an Express app; what it answers and what its handlers
 * see is the same, and each request costs less.
 *
 * Express gives every request and response its own prototype when they come in. For the engine that is dear: it is most
 * of what Express costs on Node 20 and 22. Here they are made with that prototype, and Express finds nothing to change.
 * @throws {ConfigError} when `app` is no Express app
 */
export function createServer(
  app: Express,
  options: ServerOptions & { readonly tls: https.ServerOptions },
): https.Server;
export function createServer(app: Express, options?: ServerOptions & { readonly tls?: undefined }): http.Server;
export function createServer(app: Express, { tls, ...options }: ServerOptions = {}): http.Server | https.Server {
  if (typeof app !== 'function' || !app.request || !app.response) throw new ConfigError([notExpress]);
  const settings = {
    ...options,
    IncomingMessage: withPrototype(http.IncomingMessage, app.request),
    ServerResponse: withPrototype(http.ServerResponse, app.response),
  };
  return tls ? https.createServer({ ...tls, ...settings }, app) : http.createServer(settings, app);
}

/**
 * A constructor that makes what `base` makes, with another prototype from the start. It has to be a plain function that
 * calls `base` on its `this`: a class or `Reflect.construct` costs as much as changing the prototype afterwards.
 */
function withPrototype<Constructor extends object>(base: Constructor, prototype: object): Constructor {
  // Node's are functions. Should they ever be classes, which cannot be called, Express has its way as before.
  if (!Object.getOwnPropertyDescriptor(base, 'prototype')?.writable) return base;
  // TypeScript knows what is called with `new` as classes alone.
  const initialize = base as unknown as (this: object, first: unknown, second: unknown) => void;
  function Preset(this: object, first: unknown, second: unknown): void {
    initialize.call(this, first, second);
  }
  Preset.prototype = prototype;
  return Preset as unknown as Constructor;
}

const notExpress = {
  setting: 'createServer',
  problem: 'It was not given an Express app.',
  mend: 'createServer(express().use(intentRouter())).listen(3000)',
};
