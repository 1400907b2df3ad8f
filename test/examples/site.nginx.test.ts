import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { generateKeyPair } from 'express-intents';
import { type Sequencer, startSequencer } from 'express-intents/testing';
import { ConsumerProject } from '../package/consumer-project.js';
import { startPostgres } from '../support/databases/postgres-server.js';
import { eventually } from '../support/eventually.js';
import { exampleSite, freePort, Nginx } from '../support/network/nginx.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { ExampleProject } from './example-project.js';

// The site of docs/examples/nginx with two processes of it behind a real nginx, as its configuration is written: only ports
// and files are put in.

const origin = 'https://shop.example';

describe('the example behind nginx', () => {
  let home: ConsumerProject;
  let project: ExampleProject;
  let sequencer: Sequencer;
  let nginx: Nginx | undefined;
  let port: number;
  let processes: string[];

  beforeAll(async () => {
    home = await ConsumerProject.create();
    project = new ExampleProject('nginx', home);
    const postgres = await startPostgres();
    sequencer = await startSequencer();
    const environment = {
      // In production the sequencer would have to speak https.
      NODE_ENV: 'development',
      INTENT_SEQUENCER_URL: sequencer.url,
      INTENT_DATABASE_URL: postgres.url(await postgres.createDatabase()),
      INTENT_VERIFIER_SECRET: generateKeyPair().secret,
    };
    expect(await project.run('tables', environment)).toEqual({ code: 0, stdout: '', stderr: '' });
    processes = [];
    for (const _ of [1, 2]) processes.push(...(await project.start(1, environment)));
    sequencer.setLocalDomain('shop.example', processes[0] ?? '');
    port = await freePort();
    const folder = temporaryFolder();
    const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    writeFileSync(files.certificate, localhostCertificate.cert);
    writeFileSync(files.key, localhostCertificate.key);
    const places = { port, plainPort: await freePort(), processes: processes.map((each) => new URL(each).host), files };
    nginx = await Nginx.start(exampleSite(places), port);
  });

  afterAll(async () => {
    await nginx?.end();
    await project?.end();
    await sequencer?.close();
    home?.remove();
  });

  interface Answer {
    readonly status: number | undefined;
    readonly cookies: readonly string[];
    readonly text: string;
  }

  interface Question {
    readonly method?: string;
    readonly body?: object;
    readonly headers?: Readonly<Record<string, string>>;
    /** Given what has come so far; true ends it. */
    readonly isEnough?: (text: string) => boolean;
  }

  /** Asks as a browser at https://shop.example would. */
  function ask(path: string, { method = 'GET', body, headers, isEnough }: Question = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const json = body ? { 'content-type': 'application/json', origin } : {};
      const asked = request(
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
            asked.destroy();
          });
          answer.on('end', end);
        },
      );
      asked.on('error', reject).end(body && JSON.stringify(body));
    });
  }

  async function begin(body: object): Promise<{ secret: string; cookie: string }> {
    const { status, text, cookies } = await ask('/intent', { method: 'POST', body });
    expect([status, text]).toEqual([201, expect.stringContaining('client_secret')]);
    return { secret: JSON.parse(text).client_secret, cookie: cookies.map((line) => line.split(';')[0]).join('; ') };
  }

  it('the site knows who asks and how, whatever a visitor says of that, and every process has its turn', async () => {
    const lies = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    const seen = await Promise.all(Array.from({ length: 8 }, () => ask('/whoami', { headers: lies })));
    const answers = seen.map(({ text }) => JSON.parse(text));
    for (const answer of answers) expect(answer).toMatchObject({ address: '127.0.0.1', scheme: 'https' });
    expect(new Set(answers.map(({ process }) => process)).size).toBe(2);
  });

  it('events come as they happen, and a payment is fulfilled, whichever process is asked', async () => {
    const { secret, cookie } = await begin({ mode: 'payment', order: 'tea' });
    const wallet = sequencer.wallet('Ada');
    const { id } = await wallet.scan(secret);
    // Buffered, it would come only once the stream has ended.
    const events = ask(`/intent/${id}/events`, { headers: { cookie }, isEnough: (text) => /code_scanned/.test(text) });
    expect((await events).text).toContain('code_scanned');
    await wallet.pay(secret);
    await eventually('the order is fulfilled', async () => (await ask(`/orders/${id}`)).status === 200);
    expect(JSON.parse((await ask(`/orders/${id}`)).text)).toEqual({ article: 'tea' });
  });

  it('a login that one process began is completed by the other, and known to both', async () => {
    const { secret, cookie } = await begin({ mode: 'login' });
    const { id } = await sequencer.wallet('Ada').login(secret);
    const done = await ask('/session', { method: 'POST', body: { id }, headers: { cookie } });
    const user = sequencer.wallet('Ada').userId('shop.example');
    expect(JSON.parse(done.text)).toEqual({ user: { id: user } });
    const session = done.cookies.map((line) => line.split(';')[0]).join('; ');
    const accounts = await Promise.all(
      Array.from({ length: 6 }, () => ask('/account', { headers: { cookie: session } })),
    );
    expect(accounts.map(({ text }) => JSON.parse(text))).toEqual(accounts.map(() => ({ id: user })));
  });

  it('a page of another site changes nothing', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await ask('/intent', { method: 'POST', body: { mode: 'login' }, headers })).status).toBe(403);
  });
});
