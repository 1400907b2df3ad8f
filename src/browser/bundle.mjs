// Bundles the browser element into built/, beside this file. Run by `npm run build`; prints nothing when all is well.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { minify } from '@swc/core';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('.', import.meta.url));
const target = path.join(source, 'built');

/** What elements.js may weigh, in bytes, as gzip makes it at its best. */
export const maxGzipBytes = 10_240;

/** Chromium, Firefox and Safari of the middle of 2023 and later: constructed stylesheets, `dialog`, private fields. */
const browsers = ['chrome114', 'firefox115', 'safari16.4'];

/** In a bundle of the page's own it stays as it is; the server puts the site's configuration in its place. */
const siteDeclaration =
  'const intentSite={intent:"/intent",status:"/status",events:"/intent",session:"/session",loginTtlMs:12e4};';

/** Loaded by elements.js when they are needed, from beside it. */
const onDemand = ['ask-user', 'portable-ed25519', 'translations'];

/** Properties that no page, no site and no browser knows, so that they need no name there. */
const ownProperties =
  /^(ask|attempt|clearCode|completesLogin|dialog|element|emit|endsAtMs|given|isAlive|isScanned|key|latestId|onGiven|read|rest|settings|show|showCode|shownId|stage|stop|tag|texts|timer|urls|watches|what)$/;

const common = { bundle: true, minify: true, write: false, target: browsers, logLevel: 'warning' };

/** Values of variables lose their blanks. A variable that is the stylesheet's own keeps the underscore, and of its name a letter. */
function shortenVariables(css) {
  const names = [...new Set(css.match(/--_[\w-]+/g))];
  return css
    .replaceAll(/([:,]) /g, '$1')
    .replaceAll(/--_[\w-]+/g, (name) => `--_${(names.indexOf(name) + 10).toString(36)}`);
}

/** A stylesheet becomes a text, without what only its readers need. */
const cssAsText = {
  name: 'css-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path: file }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [file] });
      return { contents: shortenVariables(outputFiles[0].text.trim()), loader: 'text' };
    });
  },
};

/** esbuild joins the files, and swc finds a fiftieth that could still be shorter. */
async function bundle(entry, options) {
  const { outputFiles } = await build({
    ...common,
    // Its own syntax would be in the way of swc's.
    minify: false,
    minifyIdentifiers: true,
    entryPoints: [path.join(source, entry)],
    format: 'esm',
    platform: 'browser',
    charset: 'utf8',
    legalComments: 'none',
    plugins: [cssAsText],
    ...options,
  });
  const { code } = await minify(outputFiles[0].text, {
    module: true,
    ecma: 2022,
    compress: { passes: 3, sequences: false },
    mangle: { toplevel: true },
    format: { comments: false },
  });
  return code;
}

/** What a page loads. */
export async function bundleElements() {
  const external = onDemand.map((name) => `./${name}.js`);
  const text = await bundle('elements.ts', { external, mangleProps: ownProperties });
  return siteDeclaration + text;
}

/** @throws {Error} when a text is too heavy for people with a slow line */
export function checkSize(text, limit = maxGzipBytes) {
  const bytes = gzipSync(text, { level: 9 }).length;
  if (bytes > limit) throw new Error(`elements.js weighs ${bytes} bytes as gzip, and may weigh ${limit}.`);
  return bytes;
}

export async function buildElements() {
  const elements = await bundleElements();
  checkSize(elements);
  const others = await Promise.all(onDemand.map(async (name) => [name, await bundle(`${name}.ts`)]));
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const [name, text] of [['elements', elements], ...others])
    await writeFile(path.join(target, `${name}.js`), text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildElements();
