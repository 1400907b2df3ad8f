import fs, { mkdirSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jest } from '@jest/globals';
import { createKeyRing } from '../../src/keys/key-ring.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';

/** What another process does after this one has found no key. */
let meanwhile = (): void => undefined;
jest.unstable_mockModule('node:fs', () => ({
  ...fs,
  mkdirSync: (...args: Parameters<typeof mkdirSync>) => {
    mkdirSync(...args);
    meanwhile();
  },
}));
const { developmentKey, developmentKeyFile } = await import('../../src/config/development-key.js');

const home = process.cwd();
beforeEach(async () => {
  process.chdir(await mkdtemp(path.join(tmpdir(), 'site-')));
  mkdirSync('node_modules');
});
afterEach(() => process.chdir(home));

const publicKey = (): string | undefined => developmentKey({}).keyRing.publicKeys[0];

test('two processes that start at the same time use the key that was written first', async () => {
  const { secret } = generateKeyPair();
  meanwhile = () => fs.writeFileSync(developmentKeyFile, secret);
  expect(publicKey()).toBe(createKeyRing(secret).publicKeys[0]);
  expect(await readdir(path.dirname(developmentKeyFile))).toEqual(['development-key']);
});

test('a file that another process has not finished writing is replaced', () => {
  meanwhile = () => fs.writeFileSync(developmentKeyFile, 'trunc');
  const key = publicKey();
  meanwhile = () => undefined;
  expect(publicKey()).toBe(key);
});
