import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { startSimulator } from '../../src/testing.js';
import { grpcMessage, respond } from '../support/sequencers/grpc-fault-server.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { ConsumerProject } from './consumer-project.js';

// Tests that depend on installed packages and on the environment of a process.

let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
  project.write('ca.pem', localhostCertificate.cert);
  project.write(
    'call.mjs',
    `import { createIntentClient } from 'express-intents/client';
    const client = createIntentClient({ grpcUrl: process.argv[2], timeoutMs: 5_000 });
    const outcome = await client.paymentIntents.getStatus('1'.repeat(32)).catch((error) => error.code);
    if (process.argv[3] === 'close') await client.close();
    console.log(JSON.stringify(outcome));`,
  );
});
afterAll(() => project.remove());

describe('a gRPC call over TLS', () => {
  const server = createSecureServer(localhostCertificate);
  let port = 0;

  beforeAll(async () => {
    server.on('sessionError', () => undefined);
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      stream.resume().on('end', () => respond(stream, [grpcMessage(Buffer.from('0801', 'hex'))]));
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const trusted = { NODE_EXTRA_CA_CERTS: 'ca.pem' };
  const created = { exists: true, codeScanned: false, intentSubmitted: false };

  it.each<[string, string, NodeJS.ProcessEnv, unknown]>([
    ['a trusted certificate succeeds', 'https://localhost', trusted, created],
    ['an untrusted certificate fails', 'https://localhost', {}, 'sequencer_unreachable'],
    ['a certificate for another name fails', 'https://127.0.0.1', trusted, 'sequencer_unreachable'],
    ['an unencrypted client fails', 'http://localhost', trusted, 'sequencer_unreachable'],
  ])('with %s', async (_name, origin, environment, outcome) => {
    // Environment variables of the library, which may be set on any machine, have no effect.
    const env = { GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: 'nothing.pem', ...environment };
    const { stdout } = await project.node(['call.mjs', `${origin}:${port}`, 'close'], env);
    expect(JSON.parse(stdout)).toEqual(outcome);
  });
});

describe('a process with a gRPC client', () => {
  it.each([
    ['with', 'close'],
    ['without', ''],
  ])('exits after its calls %s client.close()', async (_name, close) => {
    const simulator = await startSimulator({ grpcPort: 0 });
    const { code, stdout } = await project.node(['call.mjs', String(simulator.grpcUrl), close]);
    await simulator.close();
    expect({ code, outcome: JSON.parse(stdout) }).toMatchObject({ code: 0, outcome: { exists: false } });
  });

  it('and a simulator exits, closed or not', async () => {
    project.write(
      'embedded.mjs',
      `import { createIntentClient } from 'express-intents/client';
      import { startSimulator } from 'express-intents/testing';
      const { grpcUrl } = await startSimulator({ grpcPort: 0 });
      const client = createIntentClient({ grpcUrl });
      console.log((await client.paymentIntents.getStatus('1'.repeat(32))).exists);`,
    );
    expect(await project.node(['embedded.mjs'])).toMatchObject({ code: 0, stdout: 'false\n' });
  });
});

describe('without @grpc/grpc-js', () => {
  let without: ConsumerProject;

  beforeAll(async () => {
    without = await ConsumerProject.create();
    without.unlink('@grpc/grpc-js');
  });
  afterAll(() => without.remove());

  it.each([
    ['a router', `import { intentRouter } from 'express-intents'; intentRouter({ login: false });`],
    ['a client', `import { createIntentClient } from 'express-intents'; createIntentClient({ grpcUrl });`],
    ['a simulator', `import { startSimulator } from 'express-intents/testing'; await startSimulator({ grpcPort: 0 });`],
  ])('%s reports at startup what to install', async (_what, program) => {
    const grpcUrl = 'https://sequencer.example';
    without.write('start.mjs', `const grpcUrl = '${grpcUrl}'; ${program}`);
    const { code, stderr } = await without.node(['start.mjs'], { INTENT_SEQUENCER_GRPC_URL: grpcUrl });
    expect(code).toBe(1);
    expect(stderr).toContain('ConfigError: express-intents cannot start:');
    expect(stderr).toContain('npm install @grpc/grpc-js');
  });

  it('the doctor reports what to install', async () => {
    const main = 'node_modules/express-intents/dist/cli.js';
    const env = { INTENT_SEQUENCER_GRPC_URL: 'https://sequencer.example' };
    const { code, stdout } = await without.node([main, 'doctor', '--no-login', '--json'], env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).findings.filter(({ level }: { level: string }) => level === 'error')).toEqual([
      {
        ...{ check: 'grpc', level: 'error', fix: 'npm install @grpc/grpc-js' },
        text: '@grpc/grpc-js: gRPC requires this package. It is not installed.',
      },
    ]);
  });

  it('everything else works', async () => {
    without.write(
      'start.mjs',
      `import { intentRouter } from 'express-intents';
      intentRouter({ login: false, sequencer: { url: 'https://sequencer.example' } });`,
    );
    expect(await without.node(['start.mjs'])).toMatchObject({ code: 0 });
  });
});
