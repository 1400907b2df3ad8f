import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPair } from 'express-intents';
import { type Simulator, startSimulator } from 'express-intents/testing';
import { ConsumerProject, logPorts, root } from '../package/consumer-project.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { eventually } from '../support/eventually.js';
import { imageOf, instructionsOf } from './deployment-files.js';
import { ExampleProject } from './example-project.js';
import { Visitor } from './visitor.js';

// The commands of docs/examples/deploy, against a real Postgres and without a container.

const image = imageOf(instructionsOf(readFileSync(join(root, 'docs/examples/deploy/Dockerfile'), 'utf8')));

let home: ConsumerProject;
let project: ExampleProject;
let postgres: PostgresServer;
let simulator: Simulator;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  home = await ConsumerProject.create();
  project = new ExampleProject('deploy', home);
  for (const name of ['api', 'sdk-trace-base']) home.link(`@opentelemetry/${name}`);
  postgres = await startPostgres();
  simulator = await startSimulator();
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});
afterAll(async () => {
  await simulator?.close();
  home?.remove();
});

interface Site {
  readonly child: ChildProcess;
  readonly visitor: Visitor;
  readonly port: string;
  readonly output: () => string;
  readonly ended: Promise<unknown[]>;
}

/** Starts a command as the supervisor does, and waits until the site is healthy. */
async function start(command: readonly string[], database: string): Promise<Site> {
  const [program = '', ...args] = command;
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:INTENT_|NODE_|OTEL_|npm_)/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    // Production requires https for the sequencer.
    NODE_ENV: 'development',
    NODE_OPTIONS: `--import=${join(project.folder, 'log-ports.mjs')}`,
    PORT: '0',
    INTENT_SEQUENCER_URL: simulator.url,
    INTENT_DATABASE_URL: postgres.url(database),
    INTENT_VERIFIER_SECRET: generateKeyPair().secret,
    INTENT_DOMAIN: 'shop.example',
    INTENT_WALLET_URL: 'https://wallet.example/open',
    INTENT_DESTINATION: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  };
  const child = spawn(program === 'node' ? process.execPath : program, args, { cwd: project.folder, env });
  children.add(child);
  const ended = once(child, 'close').finally(() => children.delete(child));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const portOf = (): string | undefined => /^listening .*"port":(\d+)/m.exec(printed)?.[1];
  await eventually('the site listens', () => portOf() !== undefined || child.exitCode !== null);
  const port = portOf();
  if (port === undefined) throw new Error(`The site has ended: ${printed}`);
  expect(printed).toMatch(new RegExp(`^listening .*"address":"127\\.0\\.0\\.1".*"port":${port}`, 'm'));
  const visitor = new Visitor({ site: `http://127.0.0.1:${port}`, simulator: simulator.url });
  await visitor.waitFor('/healthz');
  return { child, visitor, port, output: () => printed, ended };
}

/** The exit code of the health check of the image. */
async function healthcheck(port: string): Promise<number | null> {
  const [, ...args] = image.healthcheck.map((arg) => arg.replace(':3000/', `:${port}/`));
  const { code } = await home.node(args);
  return code;
}

const orders = async (database: string): Promise<unknown[]> =>
  (await postgres.run(database, 'select article from orders')).map(({ article }) => article);

test('the command of the image starts the site, its health check passes, and SIGTERM ends both', async () => {
  const database = await postgres.createDatabase();
  const { child, visitor, port, ended } = await start(image.command, database);
  expect(await healthcheck(port)).toBe(0);
  await visitor.pay('tea');
  await eventually(async () => expect(await orders(database)).toEqual(['tea']));
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await healthcheck(port)).toBe(1);
});

/** Sets the constant of shutdown.js in the copied example. */
function setDrain(drainMs: number): void {
  const path = join(project.folder, 'shutdown.js');
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(/const drainMs = [\d_]+;/, `const drainMs = ${drainMs};`);
  expect(changed).toContain(`const drainMs = ${drainMs};`);
  writeFileSync(path, changed);
}

test('after SIGTERM the health check fails, and during the drain the process still sells', async () => {
  setDrain(600_000);
  const database = await postgres.createDatabase();
  const { child, visitor, port } = await start(image.command, database);
  child.kill('SIGTERM');
  await eventually(
    'the health check fails',
    async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status === 503,
  );
  await visitor.pay('cup');
  await eventually(async () => expect(await orders(database)).toEqual(['cup']));
  expect(child.exitCode).toBeNull();
});

/** A telemetry module with the SDK: its batch is exported when it shuts down. */
const telemetry = `
import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
const exporter = {
  export(spans, done) {
    for (const { name } of spans) console.log('exported ' + name);
    done({ code: 0 });
  },
  shutdown: async () => console.log('telemetry has ended'),
};
export const sdk = new BasicTracerProvider({
  spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 3_600_000 })],
});
trace.setGlobalTracerProvider(sdk);
`;

/** The server of the example, with telemetry and a hook that writes only after the shutdown has started. */
function serverWithTelemetry(): string {
  const server = readFileSync(join(project.folder, 'server.js'), 'utf8');
  const hook = `onPaid: async (payment, { tx }) => {
    console.log('onPaid starts');
    while ((await router.health()).checks.process.status !== 'down') await new Promise((done) => setTimeout(done, 10));
    console.log('closing');`;
  return server
    .replace('onPaid: async (payment, { tx }) => {', () => hook)
    .replace('(server, router)', () => '(server, router, () => sdk.shutdown())')
    .replace(/^/, () => "import { sdk } from './telemetry.js';\n");
}

test('SIGTERM during onPaid: the hook commits, its span is exported, and only then the process exits', async () => {
  setDrain(0);
  writeFileSync(join(project.folder, 'telemetry.js'), telemetry);
  writeFileSync(join(project.folder, 'log-ports.mjs'), `import './telemetry.js';${logPorts}`);
  writeFileSync(join(project.folder, 'server-with-telemetry.js'), serverWithTelemetry());
  const database = await postgres.createDatabase();
  const { child, visitor, output, ended } = await start(['node', 'server-with-telemetry.js'], database);
  await visitor.pay('cup');
  await eventually('the hook runs', () => output().includes('onPaid starts'));
  expect(await orders(database)).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await orders(database)).toEqual(['cup']);
  const steps = output()
    .split('\n')
    .filter((line) => /^(?:onPaid starts|closing|exported hook onPaid|telemetry has ended)$/.test(line));
  expect(steps).toEqual(['onPaid starts', 'closing', 'exported hook onPaid', 'telemetry has ended']);
});
