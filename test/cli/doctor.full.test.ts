import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { jest } from '@jest/globals';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { WebSocketServer } from 'ws';
import type { Host } from '../../src/cli/command.js';
import type { Finding } from '../../src/cli/doctor/check.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { lockFolder } from '../../src/ledger/database/embedded/folder-lock.js';
import { encodeErrorResponse, encodeOkResponse } from '../../src/wire/envelope.js';
import { openTestDatabase } from '../support/databases/databases.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { type GrpcFaultServer, respond, startGrpcFaultServer } from '../support/sequencers/grpc-fault-server.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { serve } from '../support/sites/serve.js';
import { expiredCertificate } from '../support/sites/shop-certificates.js';
import { holdTimeouts } from '../support/timeouts.js';
import { runCommand } from './support/run-command.js';
import type { FrontFaults } from './support/shop-front.js';
import { shopOrigin, startValidSetup, type ValidSetup } from './support/valid-setup.js';

// Each case starts from a setup with nothing wrong, plants one error, and sees that the doctor finds it, names what fixes
// it, and finds nothing else.

let sound: ValidSetup;
let postgres: PostgresServer;
const before = { ...process.env };

beforeAll(async () => {
  sound = await startValidSetup();
  postgres = await startPostgres();
});
afterEach(() => {
  process.env = { ...before };
  sound.front.faults = {};
});

/** Stops the clock of the doctor, and its wait for an event. @returns a function that advances the clock */
function stopClock(): (ms: number) => void {
  let nowMs = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  holdTimeouts(3_000);
  return (ms) => {
    nowMs += ms;
  };
}

type Settings = Readonly<Record<string, string | undefined>>;

/** What is different from the sound setup. */
interface Plant {
  readonly env?: Settings;
  readonly host?: Partial<Host>;
  readonly front?: FrontFaults;
  readonly args?: readonly string[];
}

type ExpectedFinding = readonly [check: string, level: Finding['level'], text: RegExp, fix: RegExp];

interface Case {
  readonly name: string;
  readonly plant: () => Plant | Promise<Plant>;
  readonly expected: readonly ExpectedFinding[];
}

type NamedFinding = Finding & { readonly check: string; readonly fix?: string };

async function doctor(env: Settings, args: readonly string[], host: Partial<Host> = {}) {
  const kept = Object.entries(before).filter(([name]) => !/^(?:INTENT_|NODE_ENV)/.test(name));
  process.env = Object.fromEntries([...kept, ...Object.entries(env)].filter(([, value]) => value !== undefined));
  const { code, out, error } = await runCommand(['doctor', '--json', ...args], { host: { ...sound.host, ...host } });
  expect(error).toBe('');
  const findings: NamedFinding[] = JSON.parse(out).findings;
  // Most environments have no wallet URL. A test of its own expects that warning.
  const wrong = findings.filter(({ check, level }) => level === 'error' || (level === 'warning' && check !== 'wallet'));
  return { code, findings, wrong };
}

function expectFindings(
  { code, wrong }: Awaited<ReturnType<typeof doctor>>,
  expected: readonly ExpectedFinding[],
): void {
  expect(wrong).toEqual(
    expected.map(([check, level, text, fix]) => ({
      ...{ check, level },
      text: expect.stringMatching(text),
      fix: expect.stringMatching(fix),
    })),
  );
  expect(code).toBe(expected.some(([, level]) => level === 'error') ? 1 : 0);
}

/** Faults of this machine, which are found without the network. */
const onThisMachine: readonly Case[] = [
  {
    name: 'the embedded sequencer in production',
    plant: () => ({ env: { INTENT_SEQUENCER_URL: 'embedded', INTENT_SEQUENCER_GRPC_URL: undefined } }),
    expected: [
      [
        'settings',
        'error',
        /INTENT_SEQUENCER_URL: .*does not start with NODE_ENV=production/,
        /^INTENT_SEQUENCER_URL=<base URL/,
      ],
    ],
  },
  {
    name: 'an http origin in production',
    plant: () => ({ env: { INTENT_ORIGIN: 'http://shop-example.com' } }),
    expected: [['settings', 'error', /INTENT_ORIGIN: It must be https/, /^INTENT_ORIGIN=https/]],
  },
  {
    name: 'a subdomain as the domain',
    plant: () => ({ env: { INTENT_DOMAIN: 'www.shop-example.com' } }),
    expected: [
      [
        'settings',
        'error',
        /INTENT_DOMAIN: Subdomains are not supported\. Use shop-example\.com, if/,
        /^INTENT_DOMAIN=/,
      ],
    ],
  },
  {
    name: 'localhost as the domain',
    plant: () => ({ env: { INTENT_DOMAIN: 'localhost' } }),
    expected: [['settings', 'error', /INTENT_DOMAIN: /, /not localhost/]],
  },
  {
    name: 'an invalid verifier secret',
    plant: () => ({ env: { INTENT_VERIFIER_SECRET: canaryOf('verifier') } }),
    expected: [
      ['settings', 'error', /INTENT_VERIFIER_SECRET: Entry 1 of 1 is not a secret key/, /express-intents keygen/],
    ],
  },
  {
    name: 'a missing verifier key, which the doctor cannot tell from a signer',
    plant: () => ({ env: { INTENT_VERIFIER_SECRET: undefined } }),
    expected: [
      ['settings', 'error', /INTENT_VERIFIER_SECRET: It is not set/, / Ignore this if the site passes `signer`\.$/],
    ],
  },
  {
    name: 'two errors at once',
    plant: () => ({ env: { INTENT_SECRET: 'short', INTENT_DESTINATION: '0x17' } }),
    expected: [
      ['settings', 'error', /INTENT_SECRET: It is shorter than 32 characters/, /^INTENT_SECRET=/],
      ['settings', 'error', /INTENT_DESTINATION: /, /^INTENT_DESTINATION=/],
    ],
  },
  {
    name: 'a setting with a typo in its name',
    plant: () => ({ env: { INTENT_DATABSE_URL: './ledger', INTENTS_DOMAIN: 'x' } }),
    expected: [
      ['settings', 'warning', /INTENT_DATABSE_URL is not a setting/, /Did you mean INTENT_DATABASE_URL/],
      ['settings', 'warning', /INTENTS_DOMAIN is not a setting/, /Did you mean INTENT_DOMAIN/],
    ],
  },
  {
    name: 'a missing secret file',
    plant: () => ({ env: { INTENT_VERIFIER_SECRET: undefined, INTENT_VERIFIER_SECRET_FILE: '/nowhere/key' } }),
    expected: [
      ['settings', 'error', /INTENT_VERIFIER_SECRET_FILE: The file cannot be read \(ENOENT\)/, /readable file/],
    ],
  },
  {
    name: 'an origin on another domain than the logins',
    plant: () => ({ env: { INTENT_ORIGIN: 'https://other-example.com' } }),
    expected: [
      [
        'consistency',
        'warning',
        /INTENT_DOMAIN is shop-example\.com, but the site is at other-example\.com/,
        /^Set INTENT_DOMAIN=/,
      ],
    ],
  },
  {
    name: 'https without NODE_ENV=production',
    plant: () => ({ env: { NODE_ENV: undefined } }),
    expected: [
      ['consistency', 'warning', /NODE_ENV is not set, but the site is served over https/, /^NODE_ENV=production$/],
    ],
  },
  {
    name: 'a missing destination',
    plant: () => ({ env: { INTENT_DESTINATION: undefined } }),
    expected: [
      [
        'settings',
        'warning',
        /^INTENT_DESTINATION is not set\.$/,
        /^Set it to the account that receives the payments\. Ignore this .* returns `destination`, or if the site has no payments\.$/,
      ],
    ],
  },
  {
    name: 'a folder as the ledger in production',
    plant: () => ({ env: { INTENT_DATABASE_URL: temporaryFolder() } }),
    expected: [['settings', 'error', /INTENT_DATABASE_URL: It is a folder/, /allowEmbeddedLedger/]],
  },
];

describe('doctor --offline finds', () => {
  it.each(onThisMachine)('$name', async ({ plant, expected }) => {
    const { env, args = [] } = await plant();
    expectFindings(await doctor({ ...sound.production, ...env }, ['--offline', ...args]), expected);
  });
});

/** The URL of a role with a wrong password. */
async function wrongPassword(): Promise<string> {
  const [{ hba_file: file } = {}] = await postgres.run('postgres', 'show hba_file');
  await postgres.run('postgres', `create role shop login password '${canaryOf('right')}'`);
  const rules = `values ('local all shop scram-sha-256'), ('local all all trust')`;
  await postgres.run('postgres', `copy (${rules}) to '${file}'`);
  await postgres.run('postgres', 'select pg_reload_conf()');
  return sound.production.INTENT_DATABASE_URL?.replace('postgres@', `shop:${canaryOf('wrong')}@`) ?? '';
}

/** A migrated database that these statements change. */
async function databaseWith(...statements: string[]): Promise<string> {
  const { url, db } = await openTestDatabase('postgres');
  const name = new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
  for (const statement of statements) await postgres.run(name, statement.replaceAll('$DATABASE', name));
  await db.close();
  return url;
}

/** A port that resets each connection once it receives data. */
async function resettingPort(): Promise<number> {
  const server = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

const inDatabases: readonly Case[] = [
  {
    name: 'an unreachable database',
    plant: () => ({ env: { INTENT_DATABASE_URL: `postgres://shop:${canaryOf('password')}@127.0.0.1:1/shop` } }),
    expected: [
      ['database', 'error', /Postgres at 127\.0\.0\.1:1\/shop cannot be used: nothing listens/, /Start the database/],
    ],
  },
  {
    name: 'a wrong password',
    plant: async () => ({ env: { INTENT_DATABASE_URL: await wrongPassword() } }),
    expected: [['database', 'error', /refuses the user or the password/, /Correct the user and the password/]],
  },
  {
    name: 'a missing database',
    plant: () => ({ env: { INTENT_DATABASE_URL: postgres.url('lost') } }),
    expected: [['database', 'error', /database "lost" does not exist/, /createdb/]],
  },
  {
    name: 'a database without tables',
    plant: async () => ({ env: { INTENT_DATABASE_URL: postgres.url(await postgres.createDatabase()) } }),
    expected: [
      [
        'database',
        'warning',
        /has no tables yet/,
        /^Start the site\. If it has `migrate: false`, run `npx express-intents migrate`\.$/,
      ],
    ],
  },
  {
    name: 'tables of a newer version',
    plant: async () => ({
      env: {
        INTENT_DATABASE_URL: await databaseWith(
          `insert into express_intents.schema_versions (version, name) values (99, 'x')`,
        ),
      },
    }),
    expected: [
      [
        'database',
        'warning',
        /has migration 99\. The newest migration of this package is/,
        /npm install express-intents@latest/,
      ],
    ],
  },
  {
    name: 'a role without the right to create tables',
    plant: async () => {
      const name = await postgres.createDatabase();
      await postgres.run(name, 'create role visitor login');
      return { env: { INTENT_DATABASE_URL: postgres.url(name).replace('postgres@', 'visitor@') } };
    },
    expected: [
      ['database', 'error', /The role visitor lacks the privilege to run migrations/, /migrate` as a role that has it/],
    ],
  },
  {
    name: 'a role without privileges on the tables in its schema',
    plant: async () => {
      const url = await databaseWith('create role keeper login', 'alter schema express_intents owner to keeper');
      return { env: { INTENT_DATABASE_URL: url.replace('postgres@', 'keeper@') } };
    },
    expected: [
      ['database', 'error', /permission denied for table/, /`grant select, insert, update, delete on all tables/],
    ],
  },
  {
    name: 'a role that may not connect',
    plant: async () => {
      const url = await databaseWith('create role stranger login', 'revoke connect on database $DATABASE from public');
      return { env: { INTENT_DATABASE_URL: url.replace('postgres@', 'stranger@') } };
    },
    expected: [['database', 'error', /permission denied for database/, /must be able to connect/]],
  },
  {
    name: 'a port that closes the connection',
    plant: async () => ({ env: { INTENT_DATABASE_URL: `postgres://shop@127.0.0.1:${await resettingPort()}/shop` } }),
    expected: [['database', 'error', /cannot be used: it closed the connection\.$/, /^Check the port/]],
  },
  {
    name: 'a read-only database',
    plant: async () => ({
      env: {
        INTENT_DATABASE_URL: await databaseWith('alter database $DATABASE set default_transaction_read_only = on'),
      },
    }),
    expected: [['database', 'error', /read-only/, /to the primary, .* default_transaction_read_only to off/]],
  },
  {
    name: 'a folder that another process has open',
    plant: async () => {
      const folder = temporaryFolder();
      await lockFolder(folder);
      return { env: { INTENT_DATABASE_URL: folder }, args: ['--allow-embedded-ledger'] };
    },
    expected: [['database', 'warning', /is open in another process/, /--url/]],
  },
  {
    name: 'a folder that cannot be created',
    plant: () => {
      const file = path.join(temporaryFolder(), 'file');
      writeFileSync(file, '');
      return { env: { INTENT_DATABASE_URL: path.join(file, 'ledger') }, args: ['--allow-embedded-ledger'] };
    },
    expected: [['database', 'error', /cannot write to .*file/, /^Give the user of the site write access to /]],
  },
];

describe('doctor finds in the database', () => {
  it.each(inDatabases)('$name', async ({ plant, expected }) => {
    const { env, args = [] } = await plant();
    expectFindings(await doctor({ ...sound.staging, ...env }, args), expected);
  });
});

/** A server that answers all requests with this response. */
const answering = (status: number, headers: Record<string, string>, body: string | Uint8Array) =>
  serve((_req, res) => {
    res.writeHead(status, headers).end(body);
  });

/** An OK envelope with all three flags true (protocol section 7). */
const allTrue = Buffer.from('1206080110011801', 'hex');

const grpcServers: GrpcFaultServer[] = [];
const servers: WebSocketServer[] = [];

afterAll(async () => {
  for (const server of grpcServers) await server.close();
  for (const server of servers) server.close();
});

/** A gRPC server that answers every call with INTERNAL. */
async function failingGrpc(): Promise<string> {
  const server = await startGrpcFaultServer({
    answer: ({ stream }) => respond(stream, [], { trailers: { 'grpc-status': '13' } }),
  });
  grpcServers.push(server);
  return server.url;
}

/** A WebSocket server that greets each client with text. */
async function chatServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket) => socket.send('Welcome.'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers each status like a service, and refuses each creation as unknown. */
function withoutCreateIntent(): Promise<string> {
  return serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const isCreation = Buffer.concat(chunks).includes('createIntent');
      if (req.method !== 'POST') return res.writeHead(404).end();
      const envelope = isCreation ? encodeErrorResponse('Unknown method.') : encodeOkResponse(new Uint8Array());
      return res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(envelope);
    });
  });
}

const atSequencers: readonly Case[] = [
  {
    name: 'an unreachable sequencer',
    plant: () => ({ env: { INTENT_SEQUENCER_URL: 'http://127.0.0.1:1' } }),
    expected: [
      ['sequencer', 'error', /nothing listens at 127\.0\.0\.1:1/, /INTENT_SEQUENCER_URL is correct/],
      ['stream', 'error', /nothing listens at 127\.0\.0\.1:1/, /INTENT_SEQUENCER_URL is correct/],
    ],
  },
  {
    name: 'a web page instead of the sequencer',
    plant: async () => ({
      env: { INTENT_SEQUENCER_URL: await answering(200, { 'content-type': 'text/html' }, '<!doctype html>') },
    }),
    expected: [
      ['sequencer', 'error', /does not answer as a payment service/, /address that your payment service gave you/],
      ['stream', 'warning', /The message stream at .* does not work: .* status 200/, /WebSockets/],
    ],
  },
  {
    name: 'meaningless bytes',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await answering(200, {}, 'garbage') } }),
    expected: [
      ['sequencer', 'error', /does not answer as a payment service/, /address that your payment service gave you/],
      ['stream', 'warning', /The message stream at .* does not work/, /WebSockets/],
    ],
  },
  {
    name: 'a compressed response of the sequencer',
    plant: async () => ({
      env: { INTENT_SEQUENCER_URL: await answering(200, { 'content-encoding': 'gzip' }, 'compressed') },
    }),
    expected: [
      ['sequencer', 'error', /does not answer as a payment service: .* is compressed/, /^Turn off this compression\./],
      ['stream', 'warning', /The message stream at .* does not work/, /WebSockets/],
    ],
  },
  {
    name: 'a superfluous path in its URL',
    plant: () => ({ env: { INTENT_SEQUENCER_URL: `${sound.sequencer.url}/v1/api` } }),
    expected: [
      ['sequencer', 'error', /answers with HTTP status 404/, /without \/v1\/api/],
      ['stream', 'warning', /The message stream at .* does not work/, /WebSockets/],
    ],
  },
  {
    name: 'a redirect',
    plant: async () => ({
      env: { INTENT_SEQUENCER_URL: await answering(308, { location: 'https://x.example/' }, '') },
    }),
    expected: [
      [
        'sequencer',
        'error',
        /answers with HTTP status 308, a redirect/,
        /Set INTENT_SEQUENCER_URL to the target of the redirect, without \/v1\/api\.$/,
      ],
      ['stream', 'warning', /The message stream at .* does not work/, /WebSockets/],
    ],
  },
  {
    name: 'a service that limits requests',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await answering(429, {}, '') } }),
    expected: [
      ['sequencer', 'error', /answers with HTTP status 429\.$/, /^Wait a minute\..* higher limit/],
      ['stream', 'warning', /does not work: .* 429/, /^Wait a minute\./],
    ],
  },
  {
    name: 'a service that refuses this machine',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await answering(403, {}, '') } }),
    expected: [
      ['sequencer', 'error', /answers with HTTP status 403\.$/, /^Ask your payment service to allow this machine/],
      ['stream', 'warning', /does not work: .* 403/, /^Ask your payment service to allow this machine/],
    ],
  },
  {
    name: 'a WebSocket server that sends text',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await chatServer() } }),
    expected: [
      ['sequencer', 'error', /answers with HTTP status 426/, /address that your payment service gave you/],
      [
        'stream',
        'error',
        /does not answer as a payment service: The stream carries text\.$/,
        /^Set INTENT_SEQUENCER_URL to the address that your payment service gave you/,
      ],
    ],
  },
  {
    name: 'a service without the operation createIntent',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await withoutCreateIntent() } }),
    expected: [
      [
        'sequencer',
        'warning',
        /has no operation Intents\.createIntent/,
        /dialect: 'messaging' \}\)\. .* Ignore this if the site sets them\.$/,
      ],
      ['stream', 'warning', /does not work/, /WebSockets/],
    ],
  },
  {
    name: 'a gRPC service that fails',
    plant: async () => ({ env: { INTENT_SEQUENCER_GRPC_URL: await failingGrpc() } }),
    expected: [['grpc', 'error', /: 127\.0\.0\.1:\d+ answers with gRPC status INTERNAL\.$/, /^Try again later/]],
  },
  {
    name: 'a service that reports everything as paid',
    plant: async () => ({ env: { INTENT_SEQUENCER_URL: await answering(200, {}, allTrue) } }),
    expected: [
      ['sequencer', 'error', /reports a nonexistent intent as existing/, /Set INTENT_SEQUENCER_URL to the address of/],
      ['stream', 'warning', /The message stream at .* does not work/, /WebSockets/],
    ],
  },
  {
    name: 'an unreachable gRPC server',
    plant: () => ({ env: { INTENT_SEQUENCER_GRPC_URL: 'http://127.0.0.1:1' } }),
    expected: [
      [
        'grpc',
        'error',
        /127\.0\.0\.1:1 cannot be reached: UNAVAILABLE: .*[^.]\.$/,
        /INTENT_SEQUENCER_GRPC_URL is correct/,
      ],
    ],
  },
  {
    name: 'gRPC at the port of the proxy',
    plant: () => ({ env: { INTENT_SEQUENCER_GRPC_URL: sound.sequencer.url } }),
    expected: [['grpc', 'error', /The status of an intent cannot be read/, /INTENT_SEQUENCER_GRPC_URL/]],
  },
];

describe('doctor finds at the sequencer', () => {
  it.each(atSequencers)('$name', async ({ plant, expected }) => {
    const { env } = await plant();
    const withoutDatabase = { ...sound.staging, INTENT_DATABASE_URL: undefined };
    expectFindings(await doctor({ ...withoutDatabase, ...env }, []), expected);
  });
});

const onKeyFile = (status: number, headers: Record<string, string>, body: string): FrontFaults => ({
  answer: (req, res) => {
    if (req.url !== '/.well-known/service-payments.json') return false;
    res.writeHead(status, headers).end(body);
    return true;
  },
});
const json = { 'content-type': 'application/json' };
const listing = (...keys: string[]): string => JSON.stringify({ public_keys: keys });

const atKeyFiles: readonly Case[] = [
  {
    name: 'a redirect to www',
    plant: () => ({ front: onKeyFile(301, { location: 'https://www.shop-example.com/' }, '') }),
    expected: [
      ['key file', 'error', /is a redirect to https:\/\/www\.shop-example\.com\//, /exclude it from the redirect/],
    ],
  },
  {
    name: 'a web page instead of it',
    plant: () => ({ front: onKeyFile(200, { 'content-type': 'text/html' }, '<!doctype html>') }),
    expected: [['key file', 'error', /is a web page/, /single-page app/]],
  },
  {
    name: 'JSON of another form',
    plant: () => ({ front: onKeyFile(200, json, '{"publicKeys":[]}') }),
    expected: [
      ['key file', 'error', /not a JSON object with an array public_keys/, /Make sure that the router answers/],
    ],
  },
  {
    name: 'a missing file',
    plant: () => ({ front: onKeyFile(404, {}, '') }),
    expected: [['key file', 'error', /answers with status 404/, /app\.use\(intentRouter\(\)\)/]],
  },
  {
    name: 'an app that is down',
    plant: () => ({ front: onKeyFile(503, {}, '') }),
    expected: [['key file', 'error', /answers with status 503/, /^Start the app/]],
  },
  {
    name: 'a file of more than 256 KiB',
    plant: () => ({ front: onKeyFile(200, json, ' '.repeat(300_000)) }),
    expected: [
      [
        'key file',
        'error',
        /cannot be read: the response is larger than 256 KiB\.$/,
        /that the router answers this path/,
      ],
    ],
  },
  {
    name: 'the content type text/plain',
    plant: () => ({ front: onKeyFile(200, { 'content-type': 'text/plain' }, listing(sound.keys.publicKey)) }),
    expected: [['key file', 'warning', /has the Content-Type text\/plain/, /application\/json/]],
  },
  {
    name: 'a missing signing key',
    plant: () => ({ front: onKeyFile(200, json, listing()) }),
    expected: [
      [
        'key file',
        'error',
        /does not list \w{32,44}, the key that signs, so every login is refused/,
        /Restart the site/,
      ],
    ],
  },
  {
    name: 'a missing second key and a superfluous one',
    plant: () => {
      const env = { INTENT_VERIFIER_SECRET: `${sound.keys.secret},${generateKeyPair().secret}` };
      return { env, front: onKeyFile(200, json, listing(sound.keys.publicKey, generateKeyPair().publicKey)) };
    },
    expected: [
      ['key file', 'warning', /does not list \w{32,44}, whose secret is set in this environment/, /Restart the site/],
      [
        'key file',
        'warning',
        /lists \w{32,44}, whose secret is not set in this environment/,
        /remove the old secret from the site, and restart the site/,
      ],
    ],
  },
  {
    name: 'an expired certificate',
    plant: () => ({ front: { certificate: expiredCertificate } }),
    expected: [['key file', 'error', /the certificate of shop-example\.com has expired/, /Renew the certificate/]],
  },
  {
    name: 'a certificate for another name',
    plant: () => ({ front: { certificate: localhostCertificate }, host: { ca: localhostCertificate.cert } }),
    expected: [['key file', 'error', /does not name shop-example\.com/, /from a public certificate authority/]],
  },
  {
    name: 'an untrusted certificate',
    plant: () => ({ host: { ca: undefined } }),
    expected: [
      [
        'key file',
        'error',
        /is not trusted/,
        /with its full chain.* NODE_EXTRA_CA_CERTS=.* and run this command again\.$/,
      ],
    ],
  },
  {
    name: 'an unreachable site',
    plant: () => ({
      host: { addressOf: () => ({ host: '127.0.0.1', port: 1 }) },
      env: { INTENT_SEQUENCER_URL: undefined, INTENT_SEQUENCER_GRPC_URL: sound.sequencer.grpcUrl },
    }),
    expected: [
      ['key file', 'error', /nothing listens at shop-example\.com/, /Serve the site at https:\/\/shop-example\.com/],
    ],
  },
];

describe('doctor finds at the key file', () => {
  it.each(atKeyFiles)('$name', async ({ plant, expected }) => {
    const { env, host, front = {} } = await plant();
    sound.front.faults = front;
    const withoutDatabase = { ...sound.staging, INTENT_DATABASE_URL: undefined };
    expectFindings(await doctor({ ...withoutDatabase, ...env }, [], host), expected);
  });
});

it.each<[string, readonly string[]]>([
  ['without --url', []],
  ['with --url', ['--url', 'http://127.0.0.1:1']],
])('doctor skips the key file for the embedded sequencer with --no-login, %s', async (_name, args) => {
  const { findings } = await doctor({ INTENT_SEQUENCER_URL: 'embedded' }, ['--no-login', ...args]);
  expect(findings.filter(({ check }) => check === 'key file')).toEqual([
    { check: 'key file', level: 'skipped', text: 'logins are disabled' },
  ]);
});

const refusing = {
  call: async () => {
    throw new Error('The service is unreachable.');
  },
  close: async () => undefined,
};

/** Appends the address of the client, as many proxies do, instead of overwriting those that the client claims. */
const appendAddress: FrontFaults['request'] = (headers, claimed) => {
  headers['x-forwarded-for'] = [claimed ?? [], '192.0.2.7'].flat().join(', ');
};

const problemType = { 'content-type': 'application/problem+json' };

/** The proxy answers the requests for these paths itself. */
const frontAnswering = (
  paths: RegExp,
  status: number,
  headers: Record<string, string> = {},
  body = '',
): FrontFaults => ({
  answer: (req, res) => {
    if (!paths.test(req.url ?? '')) return false;
    res.writeHead(status, headers).end(body);
    return true;
  },
});

const atSites: readonly Case[] = [
  {
    name: 'a proxy without a site',
    plant: () => ({ env: { INTENT_WALLET_URL: undefined }, front: { site: 'http://127.0.0.1:1' } }),
    expected: [
      ['key file', 'error', /answers with status 502/, /./],
      ['site', 'error', /answers with status 502/, /Start the app/],
      ['webhook', 'error', /answers with status 502\.$/, /^Start the app/],
    ],
  },
  {
    name: 'the router under a path',
    plant: async () => ({
      env: { INTENT_WALLET_URL: undefined },
      front: { site: await sound.startSite({ mountPath: '/pay' }) },
    }),
    expected: [
      ['key file', 'error', /answers with status 404/, /app\.use\(intentRouter\(\)\) without a path/],
      ['site', 'error', /answers with status 404/, /app\.use\(intentRouter\(\)\) without a path/],
      ['webhook', 'error', /answers with status 404/, /webhook: true/],
    ],
  },
  {
    name: 'the router under a path that the home page names',
    plant: async () => ({
      env: { INTENT_WALLET_URL: undefined },
      front: {
        site: await sound.startSite({
          mountPath: '/pay',
          home: `<script type="module">import { elements } from '/pay/intent/v1/elements.js';</script>`,
        }),
      },
    }),
    expected: [
      [
        'key file',
        'error',
        /The router is mounted under \/pay, so wallets cannot find/,
        /without a path, or add app\.get\('\/\.well-known\/service-payments\.json', router\) before any route that handles all paths\. To rename/,
      ],
    ],
  },
  {
    name: 'the router under a path, with a single-page app at the root',
    plant: async () => {
      const page = `<!doctype html><script type="module" src="/pay/intent/v1/elements.js"></script>`;
      const before = (app: Express) => app.get(/^\/(?!pay)/, (_req, res) => void res.send(page));
      return {
        env: { INTENT_WALLET_URL: undefined },
        front: { site: await sound.startSite({ mountPath: '/pay', before }) },
      };
    },
    expected: [['key file', 'error', /The router is mounted under \/pay, so wallets cannot find/, /or add app\.get/]],
  },
  {
    name: 'a renamed route of the key file',
    plant: async () => ({ front: { site: await sound.startSite({ routes: { keyFile: '/keys.json' } }) } }),
    expected: [
      [
        'key file',
        'error',
        /status 404: the router serves the key file at \/keys\.json, but wallets read only \/\.well-known\/service-payments\.json/,
        /^Remove keyFile from the option `routes` of the router\.$/,
      ],
    ],
  },
  {
    name: 'a router without a key file',
    plant: async () => ({ front: { site: await sound.startSite({ routes: { keyFile: false } }) } }),
    expected: [['key file', 'error', /the router has no key file/, /Remove `login: false` and .*--no-login/]],
  },
  {
    name: 'a redirect to www',
    plant: () => ({
      front: {
        answer: (req, res) => {
          if (!req.url?.startsWith('/intent/')) return false;
          res.writeHead(301, { location: `https://www.shop-example.com${req.url}` }).end();
          return true;
        },
      },
    }),
    expected: [
      [
        'site',
        'error',
        /is a redirect to https:\/\/www\.shop-example\.com\/intent/,
        /--url https:\/\/www\.shop-example\.com$/,
      ],
      ['webhook', 'error', /answers with status 301/, /./],
    ],
  },
  {
    name: 'a login middleware that redirects the file of the button',
    plant: () => ({ front: frontAnswering(/^\/intent\/v1/, 302, { location: '/login' }) }),
    expected: [
      ['site', 'error', /is a redirect to \/login\.$/, /^Mount the router before the middleware that redirects/],
    ],
  },
  {
    name: 'a login middleware that refuses the file of the button',
    plant: () => ({ env: { INTENT_WALLET_URL: undefined }, front: frontAnswering(/^\/intent\/v1/, 401) }),
    expected: [
      ['site', 'error', /answers with status 401\.$/, /before all other handlers of this path, such as a login/],
    ],
  },
  {
    name: 'an app that is down for one route',
    plant: () => ({ front: frontAnswering(/^\/intent$/, 502) }),
    expected: [['origin', 'error', /\/intent answers status 502\.$/, /^Start the app/]],
  },
  {
    name: 'an app that is down for event streams',
    plant: () => ({ front: frontAnswering(/\/events$/, 503) }),
    expected: [['events', 'error', /The event stream answers with status 503\.$/, /^Start the app/]],
  },
  {
    name: 'a 503 of more than 256 KiB for event streams',
    plant: () => ({ front: frontAnswering(/\/events$/, 503, {}, 'x'.repeat(300_000)) }),
    expected: [['events', 'error', /The event stream answers with status 503\.$/, /^Start the app/]],
  },
  {
    name: 'a process at its limit of event streams',
    plant: () => ({ front: frontAnswering(/\/events$/, 503, problemType, '{"code":"too_busy"}') }),
    expected: [['events', 'error', /answers with status 503 too_busy\.$/, /raise connectionLimits\.perProcess/]],
  },
  {
    name: 'a site without NODE_ENV=production',
    plant: async () => ({ front: { site: await sound.startSite({ isDevelopment: true }) } }),
    expected: [['site', 'error', /runs without NODE_ENV=production/, /Start the site with NODE_ENV=production/]],
  },
  {
    name: 'an untrusted proxy without an origin',
    plant: async () => {
      const site = await sound.startSite({ origin: '', trustProxy: false, webhook: false });
      return { front: { site }, env: { INTENT_WEBHOOK_PUBLIC_KEY: undefined, INTENT_ORIGIN: undefined } };
    },
    expected: [
      ['origin', 'error', /The site believes that it is at http:\/\/shop-example\.com/, /app\.set\('trust proxy', 1\)/],
      ['proxy', 'error', /all visitors share one rate limit/, /app\.set\('trust proxy', 1\)/],
    ],
  },
  {
    name: 'a proxy that the site does not trust',
    plant: async () => ({ front: { site: await sound.startSite({ trustProxy: false }) } }),
    expected: [
      [
        'proxy',
        'error',
        /behind a proxy, but 'trust proxy' is not set .*all visitors share one rate limit/,
        /^Call app\.set\('trust proxy', 1\), because 1 proxy forwards the requests\.$/,
      ],
    ],
  },
  {
    name: 'a second proxy that the site does not trust',
    plant: () => ({
      front: {
        request: (headers) => {
          headers['x-forwarded-for'] = '198.51.100.4, 192.0.2.7';
        },
      },
    }),
    expected: [
      [
        'proxy',
        'warning',
        /The site is behind 2 proxies, but 'trust proxy' covers only 1 of them/,
        /'trust proxy', 2\)/,
      ],
    ],
  },
  {
    name: 'a proxy that forwards no address',
    plant: () => ({
      front: {
        request: (headers) => {
          delete headers['x-forwarded-for'];
        },
      },
    }),
    expected: [['proxy', 'error', /does not forward the address of visitors/, /X-Forwarded-For/]],
  },
  {
    name: 'a proxy that terminates TLS and forwards nothing',
    plant: () => ({
      front: {
        request: (headers) => {
          for (const name of Object.keys(headers)) if (name.startsWith('x-forwarded')) delete headers[name];
        },
      },
    }),
    expected: [['proxy', 'error', /does not forward the address of visitors/, /X-Forwarded-For and X-Forwarded-Proto/]],
  },
  {
    name: 'a proxy that does not forward the protocol',
    plant: () => ({
      front: {
        request: (headers) => {
          delete headers['x-forwarded-proto'];
        },
      },
    }),
    expected: [['proxy', 'error', /does not know that its visitors use https/, /X-Forwarded-Proto: https/]],
  },
  {
    name: 'a site that trusts every address',
    plant: async () => ({
      front: { site: await sound.startSite({ trustProxy: true }), request: appendAddress },
    }),
    expected: [['proxy', 'error', /Clients can claim any address/, /'trust proxy', 1\).*overwrite X-Forwarded-For/]],
  },
  {
    name: 'a proxy that sets the address only if the client claims none',
    plant: () => ({
      front: {
        request: (headers, claimed) => {
          if (claimed) headers['x-forwarded-for'] = claimed;
        },
      },
    }),
    expected: [
      [
        'proxy',
        'error',
        /any address .*: the proxy passes on the header of the client/,
        /^Configure the first proxy to overwrite/,
      ],
    ],
  },
  {
    name: 'a proxy that only passes on the address that the client claims',
    plant: () => ({
      front: {
        request: (headers, claimed) => {
          if (claimed) headers['x-forwarded-for'] = claimed;
          else delete headers['x-forwarded-for'];
        },
      },
    }),
    expected: [
      [
        'proxy',
        'error',
        /any address .*: the proxy passes on the header of the client/,
        /^Configure the first proxy to overwrite/,
      ],
    ],
  },
  {
    name: 'a CSRF guard before the router',
    plant: async () => {
      const guard = (app: Express): void => {
        app.post('/intent', (_req, res) => void res.status(403).send('invalid csrf token'));
      };
      return { front: { site: await sound.startSite({ before: guard }) } };
    },
    expected: [['origin', 'error', /\/intent answers status 403 to the doctor\. Expected: /, /CSRF guard/]],
  },
  {
    name: 'a site with another origin',
    plant: async () => ({ front: { site: await sound.startSite({ origin: 'https://old-example.com' }) } }),
    expected: [
      [
        'origin',
        'error',
        /The running site has INTENT_ORIGIN=https:\/\/old-example\.com/,
        /^Set INTENT_ORIGIN=https:\/\/shop-example\.com for the site\.$/,
      ],
    ],
  },
  {
    name: 'a local origin that differs from the public one',
    plant: () => ({ env: { INTENT_ORIGIN: 'https://www.shop-example.com' } }),
    expected: [
      [
        'consistency',
        'error',
        /INTENT_ORIGIN is https:\/\/www.*, but the site is at https:\/\/shop-example\.com/,
        /^INTENT_ORIGIN=https:\/\/shop-example\.com$/,
      ],
      ['origin', 'error', /The running site has INTENT_ORIGIN=https:\/\/shop-example\.com, and rejects/, /./],
    ],
  },
  {
    name: 'a proxy that sets the Origin header',
    plant: () => ({
      front: {
        request: (headers) => {
          if (headers.origin) headers.origin = shopOrigin;
        },
      },
    }),
    expected: [
      ['origin', 'error', /accepts requests from pages of other sites/, /forward the header Origin unchanged/],
    ],
  },
  {
    name: 'a proxy that buffers the events',
    // Slower than a busy machine.
    plant: async () => ({
      front: { buffers: true, site: await sound.startSite({ slowMs: 1_000 }) },
      host: { checkTimeoutMs: 30_000 },
    }),
    expected: [['events', 'error', /The first two events arrive together/, /proxy_buffering off/]],
  },
  {
    name: 'a proxy that compresses the events',
    plant: () => ({
      front: {
        response: (headers) => {
          if (headers['content-type']?.startsWith('text/event-stream')) headers['content-encoding'] = 'gzip';
        },
      },
    }),
    expected: [['events', 'error', /compresses the event stream \(gzip\)/, /text\/event-stream/]],
  },
  {
    name: 'a cache that stores the events',
    plant: () => ({
      front: {
        response: (headers) => {
          if (headers['content-type']?.startsWith('text/event-stream')) headers['cache-control'] = 'max-age=60';
        },
      },
    }),
    expected: [
      ['events', 'error', /may keep the event stream and serve it to other visitors/, /Disable caching for this path/],
    ],
  },
  {
    name: 'a site that cannot reach its sequencer',
    plant: async () => ({ front: { site: await sound.startSite({ transport: refusing }) } }),
    expected: [['events', 'error', /The site does not report the status of an intent: 50\d/, /the log of the site/]],
  },
  {
    name: 'a wallet URL with a 404',
    plant: () => ({
      env: { INTENT_WALLET_URL: 'https://shop-example.com/wallet' },
      front: {
        answer: (req, res) => {
          if (req.url !== '/wallet') return false;
          res.writeHead(404).end();
          return true;
        },
      },
    }),
    expected: [['wallet', 'error', /shop-example\.com\/wallet answers with status 404/, /INTENT_WALLET_URL/]],
  },
  {
    name: 'a firewall in front of the webhook',
    plant: () => ({
      front: {
        answer: (req, res) => {
          if (req.url !== '/intent/webhook') return false;
          res.writeHead(403).end();
          return true;
        },
      },
    }),
    expected: [
      ['webhook', 'error', /answers with status 403/, /pass POST to this path.* unset INTENT_WEBHOOK_PUBLIC_KEY\.$/],
    ],
  },
];

describe('doctor --url finds at the running site', () => {
  it.each(atSites)('$name', async ({ plant, expected }) => {
    const { env, host, front = {} } = await plant();
    sound.front.faults = front;
    const withoutDatabase = { ...sound.production, INTENT_DATABASE_URL: undefined };
    expectFindings(await doctor({ ...withoutDatabase, ...env }, ['--url', shopOrigin], host), expected);
  });

  it('an unreachable site', async () => {
    const args = ['--url', 'http://127.0.0.1:1', '--webhook'];
    const { wrong, findings } = await doctor({ ...sound.staging, INTENT_DATABASE_URL: undefined }, args);
    expect(wrong.map(({ check, text }) => [check, text])).toContainEqual([
      'site',
      'http://127.0.0.1:1 cannot be reached: nothing listens at 127.0.0.1:1.',
    ]);
    const webhook = { level: 'skipped', text: 'the site cannot be reached; see the check `site`' };
    expect(findings).toContainEqual({ check: 'webhook', ...webhook });
  });
});

test('doctor warns about a missing wallet URL', async () => {
  const { findings } = await doctor(
    { ...sound.staging, INTENT_DATABASE_URL: undefined, INTENT_WALLET_URL: undefined },
    [],
  );
  expect(findings.find(({ check }) => check === 'wallet')).toEqual({
    check: 'wallet',
    level: 'warning',
    text: 'INTENT_WALLET_URL is not set: on a phone the button has no link that opens the wallet.',
    fix: 'Set INTENT_WALLET_URL to the page that opens the wallet. Ignore this if the code of the site sets it.',
  });
});

/** The findings of one check at the site in production. */
async function findingsOf(name: string, host: Partial<Host> = {}): Promise<readonly NamedFinding[]> {
  const env = { ...sound.production, INTENT_DATABASE_URL: undefined };
  const { findings } = await doctor(env, ['--url', shopOrigin], host);
  return findings.filter(({ check }) => check === name);
}

it.each([
  ['origin', /^\/intent$/],
  ['events', /\/events$/],
  ['events', /\/status\//],
  ['webhook', /^\/intent\/webhook$/],
])('doctor skips the check %s while the site is shutting down', async (check, paths) => {
  sound.front.faults = frontAnswering(paths, 503, problemType, '{"code":"closing"}');
  const text = 'the site is shutting down; run the doctor again';
  expect(await findingsOf(check)).toEqual([{ check, level: 'skipped', text }]);
});

it('doctor skips the check site if a limit in front of the router rejects this machine', async () => {
  sound.front.faults = frontAnswering(/^\/intent\/v1/, 429);
  const text = 'the site has reached its rate limit for this machine; run the doctor again in a minute';
  expect(await findingsOf('site')).toEqual([{ check: 'site', level: 'skipped', text }]);
});

it('doctor prints the command that migrates with its own --env-file', async () => {
  const file = path.join(temporaryFolder(), 'site.env');
  writeFileSync(file, `INTENT_DATABASE_URL=${postgres.url(await postgres.createDatabase())}\n`);
  const { wrong } = await doctor({ ...sound.staging, INTENT_DATABASE_URL: undefined }, ['--env-file', file]);
  expect(wrong).toMatchObject([{ fix: expect.stringContaining(`\`npx express-intents migrate --env-file ${file}\``) }]);
});

describe('doctor finds nothing', () => {
  it('at a wallet page of more than 256 KiB', async () => {
    sound.front.faults = frontAnswering(/^\/wallet$/, 200, {}, ' '.repeat(300_000));
    const env = { ...sound.staging, INTENT_DATABASE_URL: undefined, INTENT_WALLET_URL: `${shopOrigin}/wallet` };
    const { findings } = await doctor(env, []);
    expect(findings).toContainEqual({ check: 'wallet', level: 'ok', text: 'shop-example.com answers' });
  });

  it('when the file of the button is renamed and the home page names it', async () => {
    const home = '<script type="module" src="/assets/elements.js"></script>';
    sound.front.faults = { site: await sound.startSite({ routes: { elements: '/assets' }, home }) };
    const env = { ...sound.production, INTENT_DATABASE_URL: undefined, INTENT_WALLET_URL: undefined };
    expect((await doctor(env, ['--url', shopOrigin])).wrong).toEqual([]);
  });

  it('when the router is mounted under a path, and the site serves the key file at its root', async () => {
    const home = `<script type="module" src="/pay/intent/v1/elements.js"></script>`;
    const site = await sound.startSite({ mountPath: '/pay', servesRootKeyFile: true, home });
    sound.front.faults = { site };
    const env = { ...sound.production, INTENT_DATABASE_URL: undefined, INTENT_WALLET_URL: undefined };
    expect((await doctor(env, ['--url', shopOrigin])).wrong).toEqual([]);
  });

  it('when the route of the webhook is renamed', async () => {
    sound.front.faults = { site: await sound.startSite({ routes: { webhook: '/pay/hook' } }) };
    expect(await findingsOf('webhook')).toEqual([
      { check: 'webhook', level: 'ok', text: `${shopOrigin}/pay/hook answers` },
    ]);
  });

  it('certain about a renamed webhook if the route `openapi`, which names it, is disabled', async () => {
    sound.front.faults = { site: await sound.startSite({ routes: { webhook: '/pay/hook', openapi: false } }) };
    expect(await findingsOf('webhook')).toEqual([
      {
        check: 'webhook',
        level: 'warning',
        text: expect.stringMatching(/\/intent\/webhook answers with status 404, and \/intent\/v1\/openapi\.json/),
        fix: expect.stringContaining('webhook: true'),
      },
    ]);
  });

  it('but the missing route of a site without webhooks, whose routes `openapi` names', async () => {
    sound.front.faults = { site: await sound.startSite({ webhook: false }) };
    const text = expect.stringMatching(/\/intent\/webhook answers with status 404: calls from/);
    expect(await findingsOf('webhook')).toEqual([
      { check: 'webhook', level: 'error', text, fix: expect.stringContaining('webhook: true') },
    ]);
  });

  it('about an app that parses bodies before the router', async () => {
    const errors: unknown[] = [];
    const parse = (app: Express): void => {
      app.use(express.json(), ((error, _req, _res, next) => next(void errors.push(error))) as ErrorRequestHandler);
    };
    sound.front.faults = { site: await sound.startSite({ before: parse }) };
    const { findings, wrong } = await doctor({ ...sound.production, INTENT_DATABASE_URL: undefined }, [
      '--url',
      shopOrigin,
    ]);
    expect(wrong).toEqual([]);
    const checked = findings.filter(({ level }) => level === 'ok').map(({ check }) => check);
    expect(checked).toEqual(expect.arrayContaining(['origin', 'proxy']));
    expect(errors).toEqual([]);
  });

  it('behind a proxy that appends the address of the client to those that it claims', async () => {
    sound.front.faults = { request: appendAddress };
    const { findings } = await doctor({ ...sound.production, INTENT_DATABASE_URL: undefined }, ['--url', shopOrigin]);
    const text = 'the site sees the address of visitors, behind 1 proxy';
    expect(findings.filter(({ check }) => check === 'proxy')).toEqual([{ check: 'proxy', level: 'ok', text }]);
  });

  it('about the proxy of a site whose router the request does not reach', async () => {
    const guard = (app: Express): void => {
      app.post('/intent', (_req, res) => void res.status(403).send('invalid csrf token'));
    };
    sound.front.faults = { site: await sound.startSite({ before: guard }) };
    expect(await findingsOf('proxy')).toEqual([
      {
        check: 'proxy',
        level: 'skipped',
        text: 'the request did not reach the router: POST /intent answers with status 403; see the check `origin`',
      },
    ]);
  });

  it.each([
    ['logins are disabled', {}, ['--no-login']],
    ['a setting is not valid; see the check `settings`', { INTENT_SECRET: 'short' }, []],
  ])('about the proxy if %s', async (text, env, args) => {
    const { findings } = await doctor({ ...sound.production, INTENT_DATABASE_URL: undefined, ...env }, [
      ...['--url', shopOrigin, ...args],
    ]);
    expect(findings.filter(({ check }) => check === 'proxy')).toEqual([{ check: 'proxy', level: 'skipped', text }]);
  });

  it('about the buffer of a proxy, if the payment service answers immediately', async () => {
    stopClock();
    sound.front.faults = { buffers: true, site: await sound.startSite({ slowMs: 0 }) };
    expect(await findingsOf('events', { checkTimeoutMs: 60_000 })).toEqual([
      {
        check: 'events',
        level: 'skipped',
        text: expect.stringContaining('cannot tell whether a proxy buffers the events'),
      },
    ]);
  });

  it('about the buffer of a proxy, if load delays only the first measurement of a fast payment service', async () => {
    const pass = stopClock();
    let measured = 0;
    const site = await sound.startSite({
      slowMs: 0,
      before: (app) => {
        app.use((req, _res, next) => {
          const isMeasurement = /\/status\/\w{32,}$/.test(req.path);
          if (isMeasurement) measured += 1;
          if (isMeasurement && measured <= 3) pass(2_000);
          next();
        });
      },
    });
    sound.front.faults = { buffers: true, site };
    expect(await findingsOf('events', { checkTimeoutMs: 60_000 })).toEqual([
      { check: 'events', level: 'skipped', text: expect.stringContaining('may answer within 20 ms') },
    ]);
    expect(measured).toBe(6);
  });

  it('about the buffer of a proxy, if plain requests are as slow as the stream', async () => {
    const site = await sound.startSite({
      slowMs: 500,
      before: (app) => {
        let delayMs = 0;
        app.use((req, _res, next) => {
          if (req.path.endsWith('/events')) delayMs = 400;
          setTimeout(next, req.path.endsWith('/status/1') ? delayMs : 0);
        });
      },
    });
    sound.front.faults = { buffers: true, site };
    expect(await findingsOf('events', { checkTimeoutMs: 30_000 })).toEqual([
      { check: 'events', level: 'skipped', text: expect.stringContaining('plain requests are delayed too') },
    ]);
  });

  it('about a proxy that holds back two streams and not the third', async () => {
    let streams = 0;
    sound.front.faults = {
      // Slower than a busy machine.
      site: await sound.startSite({ slowMs: 1_500 }),
      buffers: ({ url = '' }) => {
        if (url.endsWith('/events')) streams += 1;
        return streams < 3;
      },
    };
    const [finding] = await findingsOf('events', { checkTimeoutMs: 30_000 });
    expect(finding).toMatchObject({ level: 'ok', text: expect.stringContaining('first event after') });
    expect(streams).toBe(3);
  });

  it('about the proxy of a site with other secrets', async () => {
    sound.front.faults = { site: await sound.startSite({ trustProxy: false, secret: canaryOf('other cookies') }) };
    const { findings } = await doctor({ ...sound.production, INTENT_DATABASE_URL: undefined }, ['--url', shopOrigin]);
    const text =
      'the site did not recognize the doctor. Run the doctor with the secrets, INTENT_DOMAIN, INTENT_ORIGIN and package version of the site';
    expect(findings.filter(({ check }) => check === 'proxy')).toEqual([{ check: 'proxy', level: 'skipped', text }]);
  });

  it.each(['production', 'staging'] as const)('in a valid environment: %s', async (name) => {
    const args = name === 'production' ? ['--url', shopOrigin] : [];
    // Slower than a busy machine.
    sound.front.faults = { site: await sound.startSite({ slowMs: 1_000 }) };
    const { code, wrong, findings } = await doctor(sound[name], args, { checkTimeoutMs: 30_000 });
    expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
    // Together they run all checks, except for a folder.
    const passed = findings.filter(({ level }) => level === 'ok').map(({ check }) => check);
    const everywhere = ['settings', 'consistency', 'database'];
    expect(passed).toEqual(
      name === 'production'
        ? [...everywhere, 'grpc', 'key file', 'site', 'origin', 'proxy', 'events', 'webhook', 'wallet']
        : [...everywhere, 'sequencer', 'stream', 'key file'],
    );
  });

  it('with a ledger in a folder that is missing, exists, or is open in another process', async () => {
    const folder = path.join(temporaryFolder(), 'ledger');
    const databaseText = async (...args: string[]) => {
      const env = { INTENT_SEQUENCER_URL: 'embedded', INTENT_DATABASE_URL: folder };
      const { findings, wrong } = await doctor(env, args);
      expect(wrong.filter(({ check }) => check === 'database')).toEqual([]);
      return findings.find(({ check }) => check === 'database')?.text;
    };
    expect(await databaseText()).toBe(`${folder} will be created`);
    mkdirSync(path.join(folder, 'data'), { recursive: true });
    expect(await databaseText()).toBe(folder);
    const lock = await lockFolder(folder);
    expect(await databaseText('--url', 'http://127.0.0.1:1')).toBe(
      `${folder}, open in another process, probably the site`,
    );
    await lock.release();
  });
});

it('doctor sends no request to another host that the site names', async () => {
  const requested: string[] = [];
  const otherHost = new URL(await serve((req, res) => res.end(String(requested.push(String(req.url))))));
  const elsewhere = `//${otherHost.host}/intent`;
  const routes = { intent: elsewhere, status: elsewhere, events: elsewhere, session: elsewhere };
  const site = await serve((_req, res) => res.end(`const intentSite = ${JSON.stringify({ routes })};\n`));
  const { findings } = await doctor({ ...sound.staging, INTENT_DATABASE_URL: undefined }, ['--url', site]);
  expect(requested).toEqual([]);
  expect(findings).toContainEqual({
    check: 'events',
    level: 'skipped',
    text: 'the route `events` is disabled, or no router was found; see the check `site`',
  });
});

it('doctor changes nothing: it creates no intent, no table and no folder', async () => {
  const name = await postgres.createDatabase();
  const calls: string[] = [];
  const counting = {
    ...sound.sequencer.transport,
    call: (...args: Parameters<typeof sound.sequencer.transport.call>) => {
      calls.push(args[0].method);
      return sound.sequencer.transport.call(...args);
    },
  };
  sound.front.faults = { site: await sound.startSite({ transport: counting, slowMs: 500 }) };
  const env = { ...sound.production, INTENT_DATABASE_URL: postgres.url(name) };
  const { wrong } = await doctor(env, ['--url', shopOrigin]);
  expect(wrong.map(({ check }) => check)).toEqual(['database']);
  expect(new Set(calls)).toEqual(new Set(['getStatus']));
  expect(await postgres.run(name, `select from pg_namespace where nspname = 'express_intents'`)).toEqual([]);
  const folder = path.join(temporaryFolder(), 'ledger');
  await doctor({ INTENT_SEQUENCER_URL: 'embedded', INTENT_DATABASE_URL: folder }, []);
  expect(() => mkdirSync(folder)).not.toThrow();
});
