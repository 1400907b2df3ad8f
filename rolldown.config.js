// The JavaScript of the package: readable code for Node, minified files for browsers. `tsc` writes the declarations.
import { cpSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { defineConfig } from 'rolldown';

const common = {
  // The sources import the compiled file names.
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  logLevel: 'warn',
};

/** Files that are read at run time, and the types of generated code, which `tsc` does not copy. `build/` is for benchmarks and fuzzing. */
const copiesFiles = {
  name: 'copies-files',
  closeBundle() {
    for (const target of ['dist', 'build']) {
      cpSync('src/simulator/page', `${target}/simulator/page`, { recursive: true });
      cpSync('src/http/operations/openapi.json', `${target}/http/operations/openapi.json`);
    }
    cpSync('src/wire/generated', 'build/wire/generated', { recursive: true });
    const filter = (file) => !file.endsWith('.js');
    cpSync('src/wire/generated', 'dist/types/wire/generated', { recursive: true, filter });
  },
};

const node = defineConfig({
  ...common,
  input: { index: 'src/index.ts', client: 'src/client.ts', testing: 'src/testing.ts', cli: 'src/cli/main.ts' },
  platform: 'node',
  external: /^[^./]/,
  transform: { target: 'node20.19' },
  plugins: [copiesFiles],
  output: {
    dir: 'dist',
    chunkFileNames: '[name].js',
    sourcemap: true,
    minifyInternalExports: false,
    // Importing a file takes half a millisecond. Without groups there would be one for each combination of entries.
    codeSplitting: {
      groups: [
        { name: 'core', test: /src\/client\.ts$/, priority: 2 },
        { name: 'router', test: /src\/index\.ts$/, priority: 1 },
      ],
    },
  },
});

/** Browsers of mid-2023, which support constructed stylesheets, `dialog` and private fields. */
const browsers = ['chrome114', 'firefox115', 'safari16.4'];

/** Files that elements.js loads on demand. Each is a build of its own: a file must not import another instance of elements.js. */
const onDemand = {
  'intent-dialog': 'src/browser/dialog/intent-dialog.ts',
  'portable-ed25519': 'src/browser/flow/portable-ed25519.ts',
  'load-site': 'src/browser/load-site.ts',
  de: 'src/browser/texts/de.ts',
  es: 'src/browser/texts/es.ts',
  fr: 'src/browser/texts/fr.ts',
  ja: 'src/browser/texts/ja.ts',
};

/**
 * The default configuration, and how an app's bundle loads that of its site. The router replaces this line with the
 * configuration of the site (src/http/elements.ts).
 */
const siteDeclaration =
  'const intentSite = { routes: { intent: "/intent", status: "/status", events: "/intent", session: "/session", ' +
  'elements: "/intent/v1" }, loginTtlMs: 120_000, returnOrigins: [], async load(routes) { ' +
  'await import("./load-site.js").then((file) => file.loadSite(this, routes), () => undefined); } };';

/** The router replaces this line with what only the dialog needs of that configuration. */
const dialogDeclaration = 'const intentDialog = {};';

const onDemandStaysSeparate = {
  name: 'on-demand-stays-separate',
  resolveId(source, importer) {
    const name = /([\w-]+)\.js$/.exec(source)?.[1];
    const isSeparate = name === 'elements' || (name && Object.hasOwn(onDemand, name));
    return importer && isSeparate ? { id: `./${name}.js`, external: true } : undefined;
  },
};

const stylesAreText = {
  name: 'styles-are-text',
  transform: {
    filter: { id: /\.css$/ },
    handler: (css) => ({
      code: transformSync(css, { loader: 'css', minify: true }).code,
      map: { mappings: '' },
      moduleType: 'text',
    }),
  },
};

const browser = ([name, input], output) =>
  defineConfig({
    ...common,
    input: { [name]: input },
    platform: 'browser',
    transform: { target: browsers },
    external: 'react',
    plugins: [stylesAreText, onDemandStaysSeparate],
    output: { dir: 'dist/browser', minify: true, sourcemap: true, ...output },
  });

export default [
  node,
  browser(['elements', 'src/browser/elements.ts'], { postBanner: siteDeclaration }),
  // Part of an app's bundle, which minifies it.
  browser(['react', 'src/browser/react.ts'], { minify: false, banner: "'use client';" }),
  ...Object.entries(onDemand).map((file) =>
    browser(file, file[0] === 'intent-dialog' ? { postBanner: dialogDeclaration } : {}),
  ),
];
