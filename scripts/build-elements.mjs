// Bundles the browser element into src/browser/built/. Run by `npm run build`; prints nothing when all is well.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('../src/browser/', import.meta.url));
const target = path.join(source, 'built');

/** What elements.js may weigh, in bytes, as gzip makes it at its best. */
export const maxGzipBytes = 10_240;

/** Chromium, Firefox and Safari of the middle of 2023 and later: constructed stylesheets, `dialog`, private fields. */
const browsers = ['chrome114', 'firefox115', 'safari16.4'];

/** The server puts the site's configuration between the braces. */
export const siteDeclaration = 'const intentSite={};';

/** Loaded by elements.js when they are needed, from beside it. */
const onDemand = ['portable-ed25519', 'scannable', 'translations'];

/** A stylesheet becomes a text, without what only its readers need. */
const cssAsText = {
  name: 'css-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path: file }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [file] });
      return { contents: outputFiles[0].text.trim(), loader: 'text' };
    });
  },
};

const common = { bundle: true, minify: true, write: false, target: browsers, logLevel: 'warning' };

async function bundle(entry, options) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [path.join(source, entry)],
    format: 'esm',
    platform: 'browser',
    charset: 'utf8',
    legalComments: 'none',
    plugins: [cssAsText],
    ...options,
  });
  return outputFiles[0].text;
}

/** @throws {Error} when a text is too heavy for people with a slow line */
export function checkSize(text, limit = maxGzipBytes) {
  const bytes = gzipSync(text, { level: 9 }).length;
  if (bytes > limit) throw new Error(`elements.js weighs ${bytes} bytes as gzip, and may weigh ${limit}.`);
  return bytes;
}

export async function buildElements() {
  const external = onDemand.map((name) => `./${name}.js`);
  const elements = await bundle('elements.ts', { external, banner: { js: siteDeclaration } });
  checkSize(elements);
  const others = await Promise.all(onDemand.map(async (name) => [name, await bundle(`${name}.ts`)]));
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const [name, text] of [['elements', elements], ...others])
    await writeFile(path.join(target, `${name}.js`), text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildElements();
