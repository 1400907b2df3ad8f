import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

/** What another process does after this one has found no key. */
let meanwhile = (): void => undefined;
jest.unstable_mockModule('node:fs', () => ({
  ...fs,
  mkdirSync: (...args: Parameters<typeof mkdirSync>) => {
    mkdirSync(...args);
    meanwhile();
  },
}));
const { parseConfig } = await import('../../src/config/config.js');
const { developmentKeyFile } = await import('../../src/config/development-key.js');

const simulated = { INTENT_SEQUENCER_URL: 'simulator' };
const keyOf = (env: Record<string, string> = {}, isReadOnly = false) => {
  const { login, notices } = parseConfig({}, { ...simulated, ...env }, isReadOnly);
  return { key: login?.keyRing.publicKeys[0], notice: notices[0] };
};

const home = process.cwd();
beforeEach(() => {
  process.chdir(temporaryFolder());
  mkdirSync('node_modules');
  meanwhile = () => undefined;
});
afterEach(() => process.chdir(home));

test('the development key is kept across starts, in a file that only its owner can read, and is not logged', () => {
  const { key, notice } = keyOf();
  expect(keyOf({ NODE_ENV: 'development' }).key).toBe(key);
  expect(statSync(developmentKeyFile).mode & 0o777).toBe(0o600);
  expect(notice).toContain(`The key in ${developmentKeyFile} is used`);
  expect(notice).not.toContain(readFileSync(developmentKeyFile, 'utf8'));
});

test('a read-only configuration reads the development key, and stores none', () => {
  expect(keyOf({}, true).key).not.toBe(keyOf({}, true).key);
  expect(readdirSync('node_modules')).toEqual([]);
  const { key } = keyOf();
  expect(keyOf({}, true).key).toBe(key);
  writeFileSync(developmentKeyFile, 'truncated');
  expect(keyOf({}, true).key).not.toBe(key);
  expect(readFileSync(developmentKeyFile, 'utf8')).toBe('truncated');
});

test('a file that is not a key is replaced, with its permissions', () => {
  keyOf();
  writeFileSync(developmentKeyFile, 'truncated');
  chmodSync(developmentKeyFile, 0o644);
  const { key } = keyOf();
  expect(keyOf().key).toBe(key);
  expect(statSync(developmentKeyFile).mode & 0o777).toBe(0o600);
});

test('the key is new at each start in tests, and without a folder node_modules', () => {
  expect(keyOf({ NODE_ENV: 'test' }).key).not.toBe(keyOf({ NODE_ENV: 'test' }).key);
  process.chdir(temporaryFolder());
  expect(keyOf().key).not.toBe(keyOf().key);
});

test('two processes that start at the same time use the key that was written first', () => {
  const { secret, publicKey } = generateKeyPair();
  meanwhile = () => writeFileSync(developmentKeyFile, secret);
  expect(keyOf().key).toBe(publicKey);
  expect(readdirSync(path.dirname(developmentKeyFile))).toEqual(['development-key']);
});

test('a file that another process has not finished writing is replaced', () => {
  meanwhile = () => writeFileSync(developmentKeyFile, 'trunc');
  const { key } = keyOf();
  meanwhile = () => undefined;
  expect(keyOf().key).toBe(key);
});
