import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/runner/run-folder.ts',
  testSequencer: '<rootDir>/test/support/runner/longest-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/runner/watch-for-leaks.ts'],
  // Sources import each other by the names they have once compiled.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/build/', '<rootDir>/example-app/dist/'],
  errorOnDeprecated: true,
  // Only a test that hangs takes this long, also on a busy machine.
  testTimeout: 240_000,
  // Many tests wait more than they work. (Jest takes '150%' for 150.)
  maxWorkers: availableParallelism() + 2,
  // A process keeps something of each file that it has run, and the more it has the slower all goes.
  workerIdleMemoryLimit: '400MB',
  // A worker that has nothing left to do may take long to exit on a busy machine. One that hangs is still reported.
  workerGracefulExitTimeout: 60_000,
  restoreMocks: true,
};
