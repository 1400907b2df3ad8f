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
  // Sources import the compiled file names.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/build/', '<rootDir>/example-app/dist/'],
  errorOnDeprecated: true,
  // Only a hanging test takes this long, even on a busy machine.
  testTimeout: 240_000,
  // Many tests mostly wait, so run more workers than cores.
  maxWorkers: availableParallelism() + 2,
  // A worker retains memory of each test file. A large heap slows it down.
  workerIdleMemoryLimit: '400MB',
  // An idle worker can need long to exit on a busy machine. A hanging worker is still reported.
  workerGracefulExitTimeout: 60_000,
  restoreMocks: true,
};
