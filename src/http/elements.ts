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
const versionedName = /^([\w-]+)\.([\w-]{8})\.js$/;

/** A name in the folder of the button: its script, and the version in the name. */
function parseName(name: string): { readonly file: string; readonly version?: string | undefined } {
  const [, script, version] = versionedName.exec(name) ?? [];
  return script && onDemand.includes(`${script}.js`) ? { file: `${script}.js`, version } : { file: name };
}

export const isElementFile = (name: string): boolean => files.has(parseName(name).file);

/** The lines of built files that the configuration of the site replaces. */
const builtSite = /^const intentSite = .*\n/;
const builtDialog = /^const intentDialog = .*\n/;

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
    currentVersion ??= versionOf(context);
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

/** Of the scripts as they are served: that of the dialog contains the configuration. */
const versionOf = (context: RouterContext): string =>
  createHash('sha256')
    .update(onDemand.map((name) => scriptOf(name, context)).join(''))
    .digest('base64url')
    .slice(0, 8);

async function textOf(name: string, version: string, context: RouterContext): Promise<string> {
  if (name !== siteFile && name !== 'elements.js') return scriptOf(name, context);
  const site = await siteOf(context);
  if (name === siteFile) {
    const dialog = dialogOf(context);
    return JSON.stringify({ ...site, ...(Object.keys(dialog).length > 0 && { dialog }) });
  }
  const versioned = (path: string, script: string): string =>
    onDemand.includes(`${script}.js`) ? `./${script}.${version}.js` : path;
  // The site last, because its URLs can contain such a path.
  const text = scriptOf(name, context).replaceAll(/\.\/([\w-]+)\.js/g, versioned);
  return text.replace(builtSite, () => `const intentSite = ${JSON.stringify(site)};\n`);
}

/** A script with the configuration of the dialog, if it has one. */
function scriptOf(name: string, context: RouterContext): string {
  const built = readFileSync(packageFile(`../dist/browser/${name}`), 'utf8');
  // A function, because a URL may contain `$&`, which a replacement string would expand.
  return built.replace(builtDialog, () => `const intentDialog = ${JSON.stringify(dialogOf(context))};\n`);
}

/** The configuration of the button. It contains no secret. */
async function siteOf({ config, walletUrl }: RouterContext): Promise<object> {
  const { routes, login, returnOrigins, button } = config;
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
    ...button.element,
  };
}

/** What only the dialog needs. It contains no secret. */
function dialogOf({ config, hooks }: RouterContext): object {
  const { name, logo, help, dialogTexts } = config.button;
  const all = { name, logo, help, currency: hooks.clientAmount?.currency, texts: dialogTexts };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function encodingFor(req: Request): 'identity' | 'gzip' | 'br' {
  return (['br', 'gzip'] as const).find((encoding) => req.acceptsEncodings(encoding) === encoding) ?? 'identity';
}
