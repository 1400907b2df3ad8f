import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import type { Routes } from '../../config/config-options.js';
import { packageFile } from '../../package-file.js';
import { jsonType, sendCacheable } from '../response/respond.js';

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
/** A JSON object. */
export type JsonObject = { readonly [name: string]: Json };

/** An OpenAPI 3.1 document, as JSON. */
export interface OpenApiDocument {
  /** The OpenAPI version. */
  readonly openapi: '3.1.0';
  /** Title, version and description of the routes. */
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** The root of the site. */
  readonly servers: readonly { readonly url: string }[];
  /** The operations by path and method. */
  readonly paths: { readonly [path: string]: JsonObject };
  /** Schemas, headers and responses that several operations use. */
  readonly components: JsonObject;
}

type DescribedConfig = Pick<Config, 'routes' | 'login' | 'webhook' | 'isHttps'>;

/** The path of each route in `openapi.json`, and its suffix after the route's configured path. */
const describedPaths: Readonly<Record<keyof Routes, readonly [path: string, suffix: string]>> = {
  intent: ['/intent', ''],
  status: ['/status/{id}', '/{id}'],
  events: ['/intent/{id}/events', '/{id}/events'],
  session: ['/session', ''],
  elements: ['/intent/v1/{file}', '/{file}'],
  keyFile: ['/.well-known/service-payments.json', ''],
  webhook: ['/intent/webhook', ''],
  openapi: ['/intent/v1/openapi.json', ''],
  health: ['/healthz', ''],
};

/** Reads `openapi.json` at the first call and adapts it to the routes and cookies of this site. */
export function openApiReader(config: DescribedConfig): () => Promise<OpenApiDocument> {
  let document: OpenApiDocument | undefined;
  return async () => {
    document ??= forSite(JSON.parse(readFileSync(packageFile('http/operations/openapi.json'), 'utf8')), config);
    return document;
  };
}

function forSite(document: OpenApiDocument, { routes, login, webhook, isHttps }: DescribedConfig): OpenApiDocument {
  const isOff: Partial<Record<keyof Routes, boolean>> = { session: !login, keyFile: !login, webhook: !webhook };
  const paths = Object.entries(describedPaths).flatMap(([route, [path, suffix]]) => {
    const name = route as keyof Routes;
    return routes[name] === false || isOff[name] ? [] : [[routes[name] + suffix, document.paths[path]]];
  });
  const components = isHttps
    ? document.components
    : JSON.parse(JSON.stringify(document.components).replaceAll('"__Host-', '"'));
  return { ...document, paths: Object.fromEntries(paths), components };
}

interface ServedDocument {
  /** The mount path of the router, which the document lists as its server. */
  readonly baseUrl: string;
  readonly bytes: Buffer;
  readonly hash: string;
}

export function openApiHandler(read: () => Promise<OpenApiDocument>) {
  let served: ServedDocument | undefined;
  return async (req: Request, res: Response): Promise<void> => {
    if (served?.baseUrl !== req.baseUrl) served = underPath(await read(), req.baseUrl);
    sendCacheable(req, res, served.bytes, { ETag: `"${served.hash}"`, 'Content-Type': jsonType });
  };
}

function underPath(document: OpenApiDocument, baseUrl: string): ServedDocument {
  const bytes = Buffer.from(JSON.stringify(baseUrl === '' ? document : { ...document, servers: [{ url: baseUrl }] }));
  return { baseUrl, bytes, hash: createHash('sha256').update(bytes).digest('base64url') };
}
