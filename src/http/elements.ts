import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { packageFile } from '../package-file.js';
import { jsonType, sendCacheable } from './response/respond.js';
import type { Handler, RouterContext } from './router-context.js';

const siteFile = 'site.json';

/** The scripts of the button. The first loads the others on demand: the dialog, its texts in other languages than English, and tweetnacl. */
const scripts = ['elements.js', 'intent-dialog.js', 'de.js', 'es.js', 'fr.js', 'ja.js', 'portable-ed25519.js'];

/**
 * The files of the button. Developer tools load the source maps. A button that is part of the app's own bundle loads its
 * configuration from `site.json`.
 */
export const elementFiles = [...scripts, ...scripts.map((name) => `${name}.map`), siteFile];

/** The line of the built file that the configuration of the site replaces. */
const builtSite = /^const intentSite = .*\n/;

interface ServedFile {
  /** Weak, because the encodings share it (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly bodies: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
}

/** `GET /intent/v1/elements.js`, the files that it loads, and its configuration (interface section 9.3). */
export function elementsHandler(context: RouterContext): Handler {
  const served = new Map<string, Promise<ServedFile>>();
  const prepare = (name: string): Promise<ServedFile> => {
    const file = prepareFile(name, context);
    served.set(name, file);
    // The next request retries.
    file.catch(() => served.delete(name));
    return file;
  };
  return async (req, res, name) => {
    const { etag, bodies } = await (served.get(name) ?? prepare(name));
    res.vary('Accept-Encoding');
    const encoding = encodingFor(req);
    sendCacheable(req, res, bodies[encoding], {
      ETag: etag,
      'Content-Type': name.endsWith('.js') ? 'text/javascript; charset=utf-8' : jsonType,
      ...(!context.config.production && { 'Cache-Control': 'no-cache' }),
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    });
  };
}

async function prepareFile(name: string, context: RouterContext): Promise<ServedFile> {
  const text = textOf(name, JSON.stringify(await siteOf(context)));
  const identity = Buffer.from(text);
  const etag = `W/"${createHash('sha256').update(identity).digest('base64url')}"`;
  return { etag, bodies: { identity, gzip: gzipSync(identity, { level: 9 }), br: brotliCompressSync(identity) } };
}

function textOf(name: string, site: string): string {
  if (name === siteFile) return site;
  const built = readFileSync(packageFile(`../dist/browser/${name}`), 'utf8');
  // A function, because a URL may contain `$&`, which a replacement string would expand.
  return built.replace(builtSite, () => `const intentSite = ${site};\n`);
}

/** The configuration of the button. It contains no secret. */
async function siteOf({ config, walletUrl }: RouterContext): Promise<object> {
  const { routes, login, returnOrigins } = config;
  return {
    routes: {
      intent: routes.intent,
      status: routes.status,
      events: routes.events,
      session: login ? routes.session : false,
      elements: routes.elements,
    },
    loginTtlMs: login?.ttlMs,
    walletUrl: await walletUrl(),
    returnOrigins,
  };
}

function encodingFor(req: Request): 'identity' | 'gzip' | 'br' {
  return (['br', 'gzip'] as const).find((encoding) => req.acceptsEncodings(encoding) === encoding) ?? 'identity';
}
