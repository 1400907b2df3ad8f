// Bundles the browser element into built/, next to this file. Run by `npm run build`.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { minify } from '@swc/core';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('.', import.meta.url));
const target = path.join(source, 'built');

/** Size limits in bytes, compressed with gzip at level 9; other files have none. The server adds its configuration to elements.js. */
export const maxGzipBytes = { 'elements.js': 8_704, 'intent-dialog.js': 10_240 };

/** Browsers of mid-2023, which support constructed stylesheets, `dialog` and private fields. */
const browsers = ['chrome114', 'firefox115', 'safari16.4'];

/**
 * The default configuration, and how a bundle loads the configuration of its site. The server replaces this line with the
 * configuration of the site.
 */
const siteDeclaration =
  'const intentSite={routes:{intent:"/intent",status:"/status",events:"/intent",session:"/session",elements:"/intent/v1"},' +
  'loginTtlMs:12e4,returnOrigins:[],async load(t){await import("./load-site.js").then(e=>e.loadSite(this,t),()=>0)}};\n';

/** elements.js loads these from its own folder on demand. */
const onDemand = ['dialog/intent-dialog', 'flow/portable-ed25519', 'load-site'];

const common = { bundle: true, minify: true, write: false, target: browsers, logLevel: 'warning' };

/** Importing a stylesheet returns its minified text. */
const cssAsText = {
  name: 'css-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path: file }) => {
      const { outputFiles } = await build({ ...common, entryPoints: [file] });
      return { contents: outputFiles[0].text.trim(), loader: 'text' };
    });
  },
};

/** Leaves the on-demand files out of the bundle. All built files are in one folder. */
const onDemandAsExternal = {
  name: 'on-demand-as-external',
  setup({ onResolve }) {
    const names = onDemand.map((file) => path.basename(file));
    onResolve({ filter: new RegExp(`/(?:${names.join('|')})\\.js$`) }, ({ path: file }) => ({
      path: `./${path.basename(file)}`,
      external: true,
    }));
  },
};

/** esbuild bundles; swc minifies 2 % better. */
async function bundle(entry, { plugins = [], ...options } = {}) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [path.join(source, entry)],
    format: 'esm',
    platform: 'browser',
    charset: 'utf8',
    legalComments: 'none',
    plugins: [cssAsText, ...plugins],
    ...options,
  });
  const { code } = await minify(outputFiles[0].text, {
    module: true,
    ecma: 2022,
    compress: { passes: 3, sequences: false },
    mangle: { toplevel: true },
    format: { comments: false },
  });
  // With these comments an app's bundler keeps the import unchanged and does not warn.
  return code.replace(/\bimport\((?=\w+\))/, '$&/* webpackIgnore: true *//* @vite-ignore */');
}

export async function bundleElements() {
  return siteDeclaration + (await bundle('elements.ts', { plugins: [onDemandAsExternal] }));
}

/** @throws {Error} if a file exceeds its limit when compressed */
export function checkSize(name, text, limit = maxGzipBytes[name]) {
  const bytes = gzipSync(text, { level: 9 }).length;
  if (bytes > limit) throw new Error(`${name} has ${bytes} bytes with gzip. The limit is ${limit}.`);
  return bytes;
}

export async function buildElements() {
  const files = [['elements.js', await bundleElements()]];
  for (const file of onDemand) files.push([`${path.basename(file)}.js`, await bundle(`${file}.ts`)]);
  for (const [name, text] of files) checkSize(name, text);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const [name, text] of files) await writeFile(path.join(target, name), text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildElements();
