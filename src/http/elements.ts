import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Request } from 'express';
import { packageFile } from '../package-file.js';
import { jsonType, sendCacheable } from './response/respond.js';
import type { Handler, RouterContext } from './router-context.js';

const siteFile = 'site.json';

/** The scripts that elements.js loads on demand: the dialog, its texts in other languages than English, and tweetnacl. */
const onDemand = ['intent-dialog.js', 'de.js', 'es.js', 'fr.js', 'ja.js', 'portable-ed25519.js'];
const scripts = ['elements.js', ...onDemand];

/**
 * The files of the button. Developer tools load the source maps. A button that is part of the app's own bundle loads its
 * configuration from `site.json`.
 */
const files = new Set([...scripts, ...scripts.map((name) => `${name}.map`), siteFile]);

/** The name under which elements.js loads a script: it changes with the content, so that browsers need not ask whether it did. */
const versionedName = /^([\w-]+)\.([\w-]{8})(\.js)$/;

/** A name in the folder of the button: its script, and the version in the name. */
function parseName(name: string): { readonly file: string; readonly version?: string | undefined } {
  const [, script, version, extension] = versionedName.exec(name) ?? [];
  const file = `${script}${extension}`;
  return onDemand.includes(file) ? { file, version } : { file: name };
}

export const isElementFile = (name: string): boolean => files.has(parseName(name).file);

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
  let currentVersion: string | undefined;
  const prepare = (name: string): Promise<ServedFile> => {
    currentVersion ??= versionOf(onDemand.map(builtFile));
    const file = prepareFile(name, currentVersion, context);
    served.set(name, file);
    // The next request retries.
    file.catch(() => served.delete(name));
    return file;
  };
  return async (req, res, name) => {
    const { file, version } = parseName(name);
    const { etag, bodies } = await (served.get(file) ?? prepare(file));
    res.vary('Accept-Encoding');
    const encoding = encodingFor(req);
    sendCacheable(req, res, bodies[encoding], {
      ETag: etag,
      'Content-Type': file.endsWith('.js') ? 'text/javascript; charset=utf-8' : jsonType,
      ...cacheControl(version, currentVersion, context.config.production),
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    });
  };
}

/** During a rolling restart a process is asked for files of another version, and answers with its own. */
function cacheControl(
  version: string | undefined,
  current: string | undefined,
  production: boolean,
): { 'Cache-Control'?: string } {
  if (version && version === current) return { 'Cache-Control': 'public, max-age=31536000, immutable' };
  return production && version === undefined ? {} : { 'Cache-Control': 'no-cache' };
}

async function prepareFile(name: string, version: string, context: RouterContext): Promise<ServedFile> {
  const identity = Buffer.from(await textOf(name, version, context));
  const etag = `W/"${createHash('sha256').update(identity).digest('base64url')}"`;
  return { etag, bodies: { identity, gzip: gzipSync(identity, { level: 9 }), br: brotliCompressSync(identity) } };
}

const builtFile = (name: string): string => readFileSync(packageFile(`../dist/browser/${name}`), 'utf8');

const versionOf = (texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('')).digest('base64url').slice(0, 8);

async function textOf(name: string, version: string, context: RouterContext): Promise<string> {
  if (name !== siteFile && name !== 'elements.js') return builtFile(name);
  const site = JSON.stringify(await siteOf(context));
  if (name === siteFile) return site;
  const versioned = (path: string, script: string): string =>
    onDemand.includes(`${script}.js`) ? `./${script}.${version}.js` : path;
  // The site last, because its URLs can contain such a path. A function, because they can contain `$&`, which a replacement string
  // would expand.
  return builtFile(name)
    .replaceAll(/\.\/([\w-]+)\.js/g, versioned)
    .replace(builtSite, () => `const intentSite = ${site};\n`);
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
