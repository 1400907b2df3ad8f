import * as http from 'node:http';
import type * as https from 'node:https';
import type { Express } from 'express';
import { ConfigError } from '../errors.js';

/** What `http.createServer` takes, and `tls`. */
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
  const settings = { ...options, ...(isCallable && presetConstructors(app)) };
  if (!tls) return http.createServer(settings, app);
  // Not loaded with the package: most sites leave it to the proxy in front of them.
  return process.getBuiltinModule('node:https').createServer({ ...tls, ...settings }, app);
}

/** What sets up a new request or response that was made elsewhere; TypeScript knows it as a class alone. */
type Initialize = (this: object, first: unknown, second?: unknown) => void;
const { IncomingMessage: initializeRequest, ServerResponse: initializeResponse } = http as unknown as Record<
  'IncomingMessage' | 'ServerResponse',
  Initialize
>;

/** Node's are functions. Should they ever be classes, which cannot be called, Express has its way as before. */
const isCallable = [initializeRequest, initializeResponse].every(
  (base) => Object.getOwnPropertyDescriptor(base, 'prototype')?.writable,
);

/**
 * Constructors that make what Node's make, with the prototypes of the app. They have to be plain functions: a class and
 * `Reflect.construct` cost as much as changing the prototype afterwards. Their names show in stack traces.
 */
function presetConstructors(app: Express): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  function IncomingMessage(this: object, socket: unknown): void {
    initializeRequest.call(this, socket);
  }
  IncomingMessage.prototype = app.request;
  function ServerResponse(this: object, req: unknown, options: unknown): void {
    initializeResponse.call(this, req, options);
  }
  ServerResponse.prototype = app.response;
  const constructors: unknown = { IncomingMessage, ServerResponse };
  return constructors as Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'>;
}

const notExpress = {
  setting: 'createServer',
  problem: 'It was not given an Express app.',
  mend: 'createServer(express().use(intentRouter())).listen(3000)',
};
