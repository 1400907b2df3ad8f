import * as http from 'node:http';
import type * as https from 'node:https';
import type { Express } from 'express';
import { ConfigError } from '../errors.js';
import { problemsOfOptions } from '../reject-unknown.js';

/** The options of `http.createServer`, and `tls`. */
export interface CreateServerOptions extends http.ServerOptions {
  /** Creates an https server with these options: `{ key, cert }`. */
  readonly tls?: https.ServerOptions | undefined;
}

/**
 * Creates the same server as `http.createServer(app)` or `https.createServer(tls, app)`. On Node 20 and 22 it costs less per
 * request, because requests and responses have the prototypes of the app from the start.
 * @throws {ConfigError} if `app` is not an Express app, or for an unknown option
 */
export function createServer(
  app: Express,
  options: CreateServerOptions & { readonly tls: https.ServerOptions },
): https.Server;
export function createServer(app: Express, options?: CreateServerOptions & { readonly tls?: undefined }): http.Server;
export function createServer(app: Express, options: CreateServerOptions = {}): http.Server | https.Server {
  if (typeof app !== 'function' || !app.request || !app.response) throw new ConfigError([notExpress]);
  const problems = problemsOfOptions('createServer', options, optionNames);
  if (problems.length > 0) throw new ConfigError(problems);
  const { tls, ...others } = options;
  const preset = presetIsFaster && presetConstructors(app);
  if (!tls) return http.createServer({ ...preset, ...others }, app);
  // Loaded on demand: most sites leave TLS to the proxy in front of them.
  return process.getBuiltinModule('node:https').createServer({ ...preset, ...tls, ...others }, app);
}

/**
 * The options of every supported version of Node. TypeScript checks that no option of the oldest version is missing; newer
 * options are added by hand.
 */
const serverOptions: Readonly<Record<keyof CreateServerOptions, true>> & Readonly<Record<string, true>> = {
  tls: true,
  IncomingMessage: true,
  ServerResponse: true,
  allowHalfOpen: true,
  blockList: true,
  connectionsCheckingInterval: true,
  headersTimeout: true,
  highWaterMark: true,
  insecureHTTPParser: true,
  joinDuplicateHeaders: true,
  keepAlive: true,
  keepAliveInitialDelay: true,
  keepAliveTimeout: true,
  keepAliveTimeoutBuffer: true,
  maxHeaderSize: true,
  noDelay: true,
  optimizeEmptyRequests: true,
  pauseOnConnect: true,
  rejectNonStandardBodyWrites: true,
  requestTimeout: true,
  requireHostHeader: true,
  shouldUpgradeCallback: true,
  uniqueHeaders: true,
};
const optionNames = Object.keys(serverOptions);

/** A constructor of Node, called as a function on an existing object. TypeScript declares it as a class. */
type Initialize = (this: object, first: unknown, second?: unknown) => void;
const { IncomingMessage: initializeRequest, ServerResponse: initializeResponse } = http as unknown as Record<
  'IncomingMessage' | 'ServerResponse',
  Initialize
>;

/**
 * On Node 24 a replaced prototype costs nothing, and the preset constructors cost more. Other runtimes may have classes, which
 * cannot be called, and whose `prototype` is not writable.
 */
const presetIsFaster =
  Number.parseInt(process.versions.node, 10) < 24 &&
  [initializeRequest, initializeResponse].every((base) => Object.getOwnPropertyDescriptor(base, 'prototype')?.writable);

/**
 * The constructors of Node with the prototypes of the app. Plain functions, because a class and `Reflect.construct`
 * cost as much as replacing the prototype. Their names appear in stack traces.
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
  problem: 'The first argument must be an Express app.',
  fix: 'createServer(express().use(intentRouter())).listen(3000)',
};
