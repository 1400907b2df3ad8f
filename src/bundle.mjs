// Joins the modules in build/ into few files in dist/, because each file that is loaded takes half a millisecond. Run by
// `npm run build`; prints nothing when all is well. Nothing is renamed or made shorter: a stack still names its functions.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [modules, target] = [path.join(root, 'build'), path.join(root, 'dist')];

const common = {
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
  charset: 'utf8',
  logLevel: 'warning',
};

/** The modules that others may load: the entries of package.json but for the browser's, and its commands. */
async function entries() {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const files = [...Object.values(manifest.exports).map((entry) => entry.default), ...Object.values(manifest.bin)];
  return files
    .map((file) => path.relative('dist', file ?? ''))
    .filter((name) => name.endsWith('.js') && !name.startsWith('browser/'))
    .map((name) => path.join(modules, name));
}

/** All that is loaded with a module, by imports that are not on demand. */
async function loadedWith(entry) {
  const { inputs } = (await build({ ...common, entryPoints: [path.join(modules, entry)] })).metafile;
  const loaded = new Set([path.relative(root, path.join(modules, entry))]);
  for (const name of loaded) {
    const imports = inputs[name].imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    for (const imported of imports) loaded.add(imported.path);
  }
  return new Set([...loaded].map((name) => path.join(root, name)));
}

/**
 * Whoever loads a part of the client loads all of it, as one file, and likewise with the rest of what the router is made of.
 * esbuild alone makes a file for every combination of entries that share something.
 */
async function wholes() {
  const [client, router] = [await loadedWith('client.js'), await loadedWith('index.js')];
  const importOf = (entry) => `import ${JSON.stringify(path.join(modules, entry))};`;
  return (file) => {
    if (client.has(file)) return '';
    return importOf(router.has(file) ? 'client.js' : 'index.js');
  };
}

/** Stands for `import.meta.url` until it is known into which file the module comes. */
const urlOf = (name) => `"the URL of ${name}"`;
const anyUrl = /"the URL of ([\w/-]+\.js)"/g;

async function moduleReader() {
  const wholeOf = await wholes();
  return {
    name: 'module-reader',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path: file }) => {
        const text = await readFile(file, 'utf8');
        const url = urlOf(path.relative(modules, file));
        return { contents: `${text.replaceAll('import.meta.url', url)}\n${wholeOf(file)}` };
      });
    },
  };
}

/** What lies beside a module lies where it would be in dist/, though the module does not. */
function withUrls(text, file) {
  return text.replaceAll(anyUrl, (_, name) => {
    const way = path.relative(path.dirname(file), path.join(target, name));
    return `new URL(${JSON.stringify(way.startsWith('.') ? way : `./${way}`)}, import.meta.url).href`;
  });
}

const { outputFiles } = await build({
  ...common,
  entryPoints: await entries(),
  outbase: modules,
  // What a module is loaded for besides its exports is no matter of package.json, which speaks of dist/.
  ignoreAnnotations: true,
  plugins: [await moduleReader()],
});
for (const { path: file, text } of outputFiles) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, withUrls(text, file));
}
