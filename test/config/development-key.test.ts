import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseConfig } from '../../src/config/config.js';
import { developmentKeyFile } from '../../src/config/development-key.js';

const embedded = { INTENT_SEQUENCER_URL: 'embedded' };
const keyOf = (env: Record<string, string> = {}) => {
  const { login, notices } = parseConfig({}, { ...embedded, ...env });
  return { key: login?.keyRing.publicKeys[0], notice: notices[0] };
};

describe('the verifier key of a site with the embedded sequencer', () => {
  const home = process.cwd();
  beforeEach(async () => {
    process.chdir(await mkdtemp(path.join(tmpdir(), 'site-')));
    mkdirSync('node_modules');
  });
  afterEach(() => process.chdir(home));

  it('is kept across starts, in a file that only its owner can read, and is not logged', () => {
    const { key, notice } = keyOf();
    expect(keyOf().key).toBe(key);
    expect(keyOf({ NODE_ENV: 'development' }).key).toBe(key);
    expect(statSync(developmentKeyFile).mode & 0o777).toBe(0o600);
    expect(notice).toBe(
      `INTENT_VERIFIER_SECRET is not set. The key in ${developmentKeyFile} is used, for development only.`,
    );
    expect(notice).not.toContain(readFileSync(developmentKeyFile, 'utf8'));
  });

  it('is read, and not stored, if the configuration is read-only', () => {
    const readOnlyKey = () => parseConfig({}, embedded, true).login?.keyRing.publicKeys[0];
    expect(readOnlyKey()).not.toBe(readOnlyKey());
    expect(readdirSync('node_modules')).toEqual([]);
    const { key } = keyOf();
    expect(readOnlyKey()).toBe(key);
    writeFileSync(developmentKeyFile, 'truncated');
    expect(readOnlyKey()).not.toBe(key);
    expect(readFileSync(developmentKeyFile, 'utf8')).toBe('truncated');
  });

  it('replaces a file that is not a key, and its permissions', () => {
    keyOf();
    writeFileSync(developmentKeyFile, 'truncated');
    chmodSync(developmentKeyFile, 0o644);
    const { key } = keyOf();
    expect(keyOf().key).toBe(key);
    expect(statSync(developmentKeyFile).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['in tests', { NODE_ENV: 'test' }, 'node_modules'],
    ['without a folder node_modules', {}, 'other'],
  ])('%s is new at each start', async (_name, env, folder) => {
    process.chdir(await mkdtemp(path.join(tmpdir(), 'site-')));
    mkdirSync(folder);
    const { key, notice } = keyOf(env as Record<string, string>);
    expect(keyOf(env as Record<string, string>).key).not.toBe(key);
    expect(notice).toContain('A key is generated at each start');
  });

  it('is not used in production, or if a secret is set', () => {
    const { key } = keyOf();
    const production = {
      NODE_ENV: 'production',
      INTENT_SEQUENCER_URL: 'https://service.example',
      INTENT_DOMAIN: 'shop.example',
    };
    expect(() => keyOf(production)).toThrow('INTENT_VERIFIER_SECRET: It is not set.');
    expect(keyOf({ INTENT_VERIFIER_SECRET: '11'.repeat(32) }).key).not.toBe(key);
  });

  it('is not used with a custom transport, which may reach a real service', () => {
    keyOf();
    const transport = { call: async () => new Uint8Array(), close: async () => undefined };
    expect(() => parseConfig({ transport }, embedded)).toThrow('INTENT_VERIFIER_SECRET: It is not set.');
    const { destination } = parseConfig({ transport, login: false }, embedded);
    expect(destination).toBeUndefined();
  });
});
