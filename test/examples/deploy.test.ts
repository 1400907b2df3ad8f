import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/config.js';
import { knownVariables } from '../../src/config/variables.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { defaultTiming } from '../../src/ledger/settlement/settlement-timing.js';
import { root } from '../package/consumer-project.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { imageOf, instructionsOf, linesOf, sectionsOf } from './deployment-files.js';

// The files of docs/examples/deploy, without Docker. deploy.full.test.ts runs their commands.

const folder = join(root, 'docs/examples/deploy');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: string;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly stop_grace_period: string;
}

const compose = parse(read('compose.yaml')) as {
  readonly services: Readonly<Record<'site' | 'database', Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
};
const { site, database } = compose.services;
const unit = sectionsOf(read('shop@.service'));
const settings = Object.fromEntries(linesOf(read('site.env')));
const [, port = ''] = /process\.env\.PORT \?\? (\d+)/.exec(read('server.js')) ?? [];

const shutdownJs = 'docs/examples/deploy/shutdown.js';
const shutdownSeconds = (milliseconds(shutdownJs, 'drainMs') + milliseconds(shutdownJs, 'timeoutMs')) / 1_000;

function milliseconds(file: string, name: string): number {
  const [, digits] = new RegExp(`const ${name} = ([\\d_]+);`).exec(readFileSync(join(root, file), 'utf8')) ?? [];
  if (digits === undefined) throw new Error(`${file} has no constant ${name}.`);
  return Number(digits.replace('_', ''));
}

test('shutdown.js waits longer than close() waits for requests and then for hooks', () => {
  const closeMs = milliseconds('src/router/intent-router.ts', 'requestsTimeoutMs') + defaultTiming.closeMs;
  expect(closeMs).toBe(8_000);
  expect(shutdownSeconds).toBe(14.5);
  expect(milliseconds(shutdownJs, 'timeoutMs') - milliseconds(shutdownJs, 'telemetryMs')).toBeGreaterThan(closeMs);
});

describe('the Dockerfile', () => {
  const image = imageOf(instructionsOf(read('Dockerfile')));

  test('runs as an unprivileged user, in production', () => {
    expect(image.user).toBe('node');
    expect(image.env.NODE_ENV).toBe('production');
  });

  test('starts node itself, so that it receives SIGTERM', () => {
    const [program, file = ''] = image.command;
    expect([program, existsSync(join(folder, file))]).toEqual(['node', true]);
  });
});

/** The environment of a process of the site, as Compose and systemd make it. */
const environments: readonly [name: string, make: (secretFile: string) => Record<string, string>][] = [
  [
    'compose.yaml',
    (secretFile) => {
      const values: Record<string, string> = { DATABASE_PASSWORD: 'a1', INTENT_SECRET: canaryOf('cookies of Compose') };
      const resolved = Object.entries(site.environment).map(([name, text]) => {
        const value = text.replace(/\$\{(\w+):\?\}/g, (_all, variable) => values[variable] ?? `no ${variable}`);
        return [name, value === '/run/secrets/verifier' ? secretFile : value];
      });
      return { ...imageOf(instructionsOf(read('Dockerfile'))).env, ...settings, ...Object.fromEntries(resolved) };
    },
  ],
  [
    'shop@.service',
    (secretFile) => {
      const inUnit = (unit.Service?.Environment ?? []).map((line) => line.split('='));
      const secrets = {
        INTENT_DATABASE_URL: 'postgres://shop@localhost/shop',
        INTENT_SECRET: canaryOf('cookies of systemd'),
      };
      const own = Object.fromEntries(inUnit) as Record<string, string>;
      expect(own.INTENT_VERIFIER_SECRET_FILE).toBe('%d/verifier');
      return { ...settings, ...secrets, ...own, INTENT_VERIFIER_SECRET_FILE: secretFile };
    },
  ],
];

test.each(environments)('%s gives the site a complete configuration for production', (_name, make) => {
  const secretFile = join(temporaryFolder(), 'verifier');
  const { secret, publicKey } = generateKeyPair();
  writeFileSync(secretFile, `${secret}\n`);
  const env = make(secretFile);
  expect(Object.keys(env).filter((name) => name.startsWith('INTENT_') && !knownVariables.includes(name))).toEqual([]);
  const config = parseConfig({ routes: { health: '/healthz' } }, env);
  expect(config).toMatchObject({ production: true, isHttps: true, warnings: [], notices: [] });
  expect(config.login?.keyRing.publicKeys).toEqual([publicKey]);
});

describe('compose.yaml', () => {
  test('publishes the port of the site on this machine only', () => {
    expect(site.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(database.ports).toBeUndefined();
  });

  test('mounts the verifier secret from a file that the image does not contain', () => {
    expect(site.secrets?.map((name) => `/run/secrets/${name}`)).toEqual([site.environment.INTENT_VERIFIER_SECRET_FILE]);
    const files = Object.values(compose.secrets).map(({ file }) => file);
    expect(files).toEqual(['verifier.secret']);
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['*.secret', '.env', 'node_modules']));
  });

  test('waits longer for the end of the site than shutdown.js', () => {
    expect(Number(/^(\d+)s$/.exec(site.stop_grace_period)?.[1])).toBeGreaterThan(shutdownSeconds);
  });
});

describe('shop@.service', () => {
  test('waits longer for the end of the site than shutdown.js', () => {
    expect(Number(unit.Service?.TimeoutStopSec?.[0])).toBeGreaterThan(shutdownSeconds);
  });
});
