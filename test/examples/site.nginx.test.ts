import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { generateKeyPair } from 'express-intents';
import { type Simulator, startSimulator } from 'express-intents/testing';
import { ConsumerProject } from '../package/consumer-project.js';
import { startPostgres } from '../support/databases/postgres-server.js';
import { eventually } from '../support/eventually.js';
import { exampleSite, freePort, Nginx } from '../support/network/nginx.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { ExampleProject } from './example-project.js';

// The site of docs/examples/nginx with two processes behind a real nginx. Only ports and files of its configuration change.

const origin = 'https://shop.example';

describe('the nginx example', () => {
  let home: ConsumerProject;
  let project: ExampleProject;
  let simulator: Simulator;
  let nginx: Nginx | undefined;
  let port: number;
  let processes: string[];

  beforeAll(async () => {
    home = await ConsumerProject.create();
    project = new ExampleProject('nginx', home);
    const postgres = await startPostgres();
    simulator = await startSimulator();
    const environment = {
      // Production requires https for the sequencer.
      NODE_ENV: 'development',
      INTENT_SEQUENCER_URL: simulator.url,
      INTENT_DATABASE_URL: postgres.url(await postgres.createDatabase()),
      INTENT_VERIFIER_SECRET: generateKeyPair().secret,
    };
    expect(await project.run('tables', environment)).toEqual({ code: 0, stdout: '', stderr: '' });
    processes = [];
    for (const _ of [1, 2]) processes.push(...(await project.start(1, environment)));
    simulator.setLocalDomain('shop.example', processes[0] ?? '');
    port = await freePort();
    const folder = temporaryFolder();
    const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    writeFileSync(files.certificate, localhostCertificate.cert);
    writeFileSync(files.key, localhostCertificate.key);
    const siteOptions = {
      port,
      plainPort: await freePort(),
      processes: processes.map((each) => new URL(each).host),
      files,
    };
    nginx = await Nginx.start(exampleSite(siteOptions), port);
  });

  afterAll(async () => {
    await nginx?.end();
    await project?.end();
    await simulator?.close();
    home?.remove();
  });

  interface Answer {
    readonly status: number | undefined;
    readonly cookies: readonly string[];
    readonly text: string;
  }

  interface RequestOptions {
    readonly method?: string;
    readonly body?: object;
    readonly headers?: Readonly<Record<string, string>>;
    /** Receives the text so far. Returns whether to end the request. */
    readonly isEnough?: (text: string) => boolean;
  }

  /** Sends a request like a browser at https://shop.example. */
  function send(path: string, { method = 'GET', body, headers, isEnough }: RequestOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const json = body ? { 'content-type': 'application/json', origin } : {};
      const req = request(
        {
          ...{ host: '127.0.0.1', port, path, method, servername: 'shop.example', rejectUnauthorized: false },
          headers: { host: 'shop.example', ...json, ...headers },
          agent: false,
        },
        (answer) => {
          let text = '';
          const end = (): void =>
            resolve({ status: answer.statusCode, cookies: answer.headers['set-cookie'] ?? [], text });
          answer.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
            if (!isEnough?.(text)) return;
            end();
            req.destroy();
          });
          answer.on('end', end);
        },
      );
      req.on('error', reject).end(body && JSON.stringify(body));
    });
  }

  async function createIntent(body: object): Promise<{ secret: string; cookie: string }> {
    const { status, text, cookies } = await send('/intent', { method: 'POST', body });
    expect([status, text]).toEqual([201, expect.stringContaining('client_secret')]);
    return { secret: JSON.parse(text).client_secret, cookie: cookies.map((line) => line.split(';')[0]).join('; ') };
  }

  it('reports the address and scheme of the client in spite of forged headers, and uses both processes', async () => {
    const forged = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    const seen = await Promise.all(Array.from({ length: 8 }, () => send('/whoami', { headers: forged })));
    const answers = seen.map(({ text }) => JSON.parse(text));
    for (const answer of answers) expect(answer).toMatchObject({ address: '127.0.0.1', scheme: 'https' });
    expect(new Set(answers.map(({ process }) => process)).size).toBe(2);
  });

  it('sends events without buffering, and fulfills a payment through any process', async () => {
    const { secret, cookie } = await createIntent({ mode: 'payment', order: 'tea' });
    const wallet = simulator.wallet('Ada');
    const { id } = await wallet.scan(secret);
    // A buffered event would arrive only at the end of the stream.
    const events = send(`/intent/${id}/events`, { headers: { cookie }, isEnough: (text) => /code_scanned/.test(text) });
    expect((await events).text).toContain('code_scanned');
    await wallet.pay(secret);
    await eventually('the order is fulfilled', async () => (await send(`/orders/${id}`)).status === 200);
    expect(JSON.parse((await send(`/orders/${id}`)).text)).toEqual({ article: 'tea' });
  });

  it('completes a login that the other process created', async () => {
    const { secret, cookie } = await createIntent({ mode: 'login' });
    const { id } = await simulator.wallet('Ada').login(secret);
    const completed = await send('/session', { method: 'POST', body: { id }, headers: { cookie } });
    const user = simulator.wallet('Ada').userId('shop.example');
    expect(JSON.parse(completed.text)).toEqual({ user: { id: user } });
    const session = completed.cookies.map((line) => line.split(';')[0]).join('; ');
    const accounts = await Promise.all(
      Array.from({ length: 6 }, () => send('/account', { headers: { cookie: session } })),
    );
    expect(accounts.map(({ text }) => JSON.parse(text))).toEqual(accounts.map(() => ({ id: user })));
  });
});
