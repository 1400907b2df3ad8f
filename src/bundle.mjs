// Writes dist/ from build/, the last step of `npm run build`.
// - Bundles the modules into few files, because loading a file takes half a millisecond. Names are kept for readable
//   stack traces. Each line break adds to the size of the package, so lines are long.
// - Keeps only the declarations that the entries need.
// - Copies pages and data without white space.
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { neededDeclarations } from './declarations.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [source, modules, target] = ['src', 'build', 'dist'].map((folder) => path.join(root, folder));
/** A relative path as esbuild and URLs write it, also on Windows. */
const relativePath = (from, to) => path.relative(from, to).split(path.sep).join('/');
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));

async function write(file, text) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

// ---- Modules ----

const compact = {
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 8000,
  charset: 'utf8',
  legalComments: 'none',
};

const common = {
  ...compact,
  absWorkingDir: root,
  outdir: target,
  bundle: true,
  splitting: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  target: 'node20.19',
  logLevel: 'warning',
};

/** The entry modules: the commands, and the exports of the package except the one for browsers. */
function entries() {
  const files = [...Object.values(manifest.exports).map((entry) => entry.default), ...Object.values(manifest.bin)];
  return files
    .map((file) => relativePath('dist', file ?? ''))
    .filter((name) => name.endsWith('.js') && !name.startsWith('browser/'))
    .map((name) => path.join(modules, name));
}

async function loadedWith(entry) {
  const { inputs } = (await build({ ...common, entryPoints: [path.join(modules, entry)] })).metafile;
  const loaded = new Set([relativePath(root, path.join(modules, entry))]);
  for (const name of loaded) {
    const imports = inputs[name].imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    for (const imported of imports) loaded.add(imported.path);
  }
  return new Set([...loaded].map((name) => path.join(root, name)));
}

/**
 * Adds an import to every module outside the client bundle: modules of the router import the client bundle, all others the router
 * bundle. Otherwise esbuild would write one file for every combination of entries that share a module.
 */
async function bundleImports() {
  const [client, router] = [await loadedWith('client.js'), await loadedWith('index.js')];
  const importOf = (entry) => `import ${JSON.stringify(path.join(modules, entry))};`;
  return (file) => {
    if (client.has(file)) return '';
    return importOf(router.has(file) ? 'client.js' : 'index.js');
  };
}

/**
 * A placeholder for `import.meta.url` until the bundle of the module is known. It is an identifier, because the line limit
 * splits strings.
 */
const urlOf = (name) => `__url_${Buffer.from(name).toString('hex')}`;
const anyUrl = /\b__url_([0-9a-f]+)\b/g;

/**
 * CommonJS packages that the router loads, and what they export. `import` parses a package twice, `require` once. The packages of the
 * client are imported, because a bundler finds only imports.
 */
const requiredPackages = {
  cookie: 'export const { parseCookie, stringifySetCookie } = required',
  helmet: 'export default required',
};

/** Loads {@link requiredPackages} with `require`. */
const packageLoader = {
  name: 'package-loader',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ path: name }) =>
      name in requiredPackages ? { path: name, namespace: 'required', sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path: name }) => ({
      contents: `
        import { createRequire } from 'node:module';
        const required = createRequire(import.meta.url)('${name}');
        ${requiredPackages[name]};`,
    }));
  },
};

/** Folders whose variables get short names: generated code, the commands, and the embedded sequencer, which report no stacks. */
const shortNamed = ['wire/generated', 'cli', 'emulator'];

async function moduleReader() {
  const bundleImportOf = await bundleImports();
  return {
    name: 'module-reader',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path: file }) => {
        const code = await readFile(file, 'utf8');
        const isShort = shortNamed.some((folder) => file.startsWith(path.join(modules, folder)));
        const indented = isShort ? (await transform(code, { minify: true, format: 'esm' })).code : code;
        // The bundler keeps the line breaks of texts. In the ledger these are SQL statements.
        const text = file.startsWith(path.join(modules, 'ledger')) ? indented.replace(/\n +/g, '\n') : indented;
        const url = urlOf(relativePath(modules, file));
        return { contents: `${text.replaceAll('import.meta.url', url)}\n${bundleImportOf(file)}` };
      });
    },
  };
}

/** Replaces each placeholder with the URL of its module. A module reads files relative to its own path, not to that of its bundle. */
function withUrls(text, file) {
  return text.replaceAll(anyUrl, (_, hex) => {
    const name = Buffer.from(hex, 'hex').toString();
    const relative = relativePath(path.dirname(file), path.join(target, name));
    return `new URL(${JSON.stringify(relative.startsWith('.') ? relative : `./${relative}`)}, import.meta.url).href`;
  });
}

const isModule = (name) => !name.startsWith('required:');

async function writeModules() {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: entries(),
    outbase: modules,
    // `sideEffects` in package.json applies to dist/ only.
    ignoreAnnotations: true,
    plugins: [packageLoader, await moduleReader()],
  });
  for (const { path: file, text } of outputFiles) await write(file, withUrls(text, file));
  // The modules in each file, for the tests.
  const bundles = Object.entries(metafile.outputs).map(([file, { inputs }]) => [
    file,
    Object.keys(inputs)
      .filter(isModule)
      .map((name) => relativePath(modules, path.join(root, name))),
  ]);
  await write(path.join(modules, 'bundles.json'), JSON.stringify(Object.fromEntries(bundles)));
}

const isDeclaration = (file) => file.endsWith('.d.ts');

const halfOf = (indent) => indent.slice(indent.length / 2);

async function writeDeclarations() {
  const entryTypes = Object.values(manifest.exports).flatMap((entry) => entry.types ?? []);
  const needed = neededDeclarations(
    entryTypes.map((file) => path.join(root, file)),
    (file) => readFileSync(file, 'utf8').replaceAll(/^(?: {4})+/gm, halfOf),
  );
  const present = await readdir(target, { recursive: true });
  for (const name of present.filter(isDeclaration)) await rm(path.join(target, name));
  for (const [file, text] of needed) await write(file, text);
  await removeEmptyFolders(target);
}

async function removeEmptyFolders(folder) {
  const present = await readdir(folder, { withFileTypes: true });
  for (const entry of present.filter((each) => each.isDirectory())) {
    const inside = path.join(folder, entry.name);
    await removeEmptyFolders(inside);
    if ((await readdir(inside)).length === 0) await rm(inside, { recursive: true });
  }
}

// ---- Pages and data ----

async function copyCompact(name) {
  const text = await readFile(path.join(source, name), 'utf8');
  const loader = path.extname(name).slice(1);
  if (loader === 'json') return write(path.join(target, name), JSON.stringify(JSON.parse(text)));
  const isCode = loader === 'js' || loader === 'css';
  const { code } = isCode ? await transform(text, { ...compact, minifyIdentifiers: true, loader }) : { code: text };
  return write(path.join(target, name), code);
}

await writeDeclarations();
await writeModules();
await cp(path.join(source, 'browser/built'), path.join(target, 'browser/built'), { recursive: true });
const pages = (await readdir(path.join(source, 'emulator/page'))).map((name) => `emulator/page/${name}`);
for (const name of [...pages, 'http/operations/openapi.json']) await copyCompact(name);
