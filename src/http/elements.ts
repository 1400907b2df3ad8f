import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { hasAlready } from './request/has-already.js';
import { sendBytes, sendEmpty } from './response/respond.js';
import type { Handler, RouterContext } from './router-context.js';

/** The files of the browser element; those after the first are loaded by it, when they are needed. */
export const elementFiles = ['elements.js', 'ask-user.js', 'portable-ed25519.js', 'translations.js'] as const;

/** Pages of all visitors load it, so it is asked for often, and a new version is there within minutes. */
const maxAgeSeconds = 300;

/** What stands at the top of the built file in place of the site's configuration. */
const builtSite = /^const intentSite=\{.*?\};/;

/** The bodies of one file, compressed once. */
interface ServedFile {
  readonly etag: string;
  readonly bodies: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
}

/** `GET /intent/v1/elements.js` and the files beside it (interface section 9.3). */
export function elementsHandler(context: RouterContext): Handler {
  const served = new Map<string, Promise<ServedFile>>();
  const cacheControl = context.config.production ? `public, max-age=${maxAgeSeconds}` : 'no-cache';
  return async (req, res, name) => {
    const file = served.get(name) ?? serve(name, context);
    served.set(name, file);
    const { etag, bodies } = await file;
    const encoding = encodingFor(req);
    const headers = { 'Cache-Control': cacheControl, ETag: `"${etag}-${encoding}"` };
    res.vary('Accept-Encoding');
    if (hasAlready(req, etag)) return sendEmpty(res, 304, headers);
    sendBytes(res, 200, bodies[encoding], {
      ...headers,
      'Content-Type': 'text/javascript; charset=utf-8',
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    });
  };
}

async function serve(name: string, context: RouterContext): Promise<ServedFile> {
  const built = readFileSync(new URL(`../browser/built/${name}`, import.meta.url), 'utf8');
  const site = JSON.stringify(await siteOf(name, context));
  // By a function: in a text `$&` and the like, which a URL may have, would mean something else.
  const text = built.replace(builtSite, () => `const intentSite=${site};`);
  const identity = Buffer.from(text);
  const etag = createHash('sha256').update(identity).digest('base64url');
  return { etag, bodies: { identity, gzip: gzipSync(identity, { level: 9 }), br: brotliCompressSync(identity) } };
}

/** What the element must know of the site; nothing here is secret. */
async function siteOf(name: string, { config, walletUrl }: RouterContext): Promise<object> {
  const { routes, login, returnOrigins } = config;
  return {
    file: `${routes.elements}/${name}`,
    intent: routes.intent,
    status: routes.status,
    events: routes.events,
    session: login ? routes.session : false,
    loginTtlMs: login?.ttlMs,
    walletUrl: await walletUrl(),
    returnOrigins: returnOrigins.length > 0 ? returnOrigins : undefined,
  };
}

function encodingFor(req: Request): 'identity' | 'gzip' | 'br' {
  return (['br', 'gzip'] as const).find((encoding) => req.acceptsEncodings(encoding) === encoding) ?? 'identity';
}
