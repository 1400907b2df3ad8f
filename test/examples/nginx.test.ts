import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { generateKey } from 'express-intents';
import { type Sequencer, startSequencer } from 'express-intents/testing';
import { ConsumerProject } from '../package/consumer-project.js';
import { localhostCertificate } from '../support/localhost-certificate.js';
import { startPostgres } from '../support/postgres-server.js';
import { ExampleProject } from './example-project.js';

// The site of docs/examples/nginx with two processes of it behind a real nginx, as its configuration is written: only ports
// and files are put in.

const origin = 'https://shop.example';

function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const isHere = hasNginx();
if (!isHere) console.warn('There is no nginx here, so its example is not tried: apt-get install nginx-light');

(isHere ? describe : describe.skip)('the example behind nginx', () => {
  let home: ConsumerProject;
  let project: ExampleProject;
  let sequencer: Sequencer;
  let nginx: ChildProcess;
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
      INTENT_VERIFIER_SECRET: generateKey().secret,
    };
    expect(await project.run('tables', environment)).toEqual({ code: 0, stdout: '', stderr: '' });
    processes = [];
    for (const _ of [1, 2]) processes.push(...(await project.start(1, environment)));
    sequencer.setLocalDomain('shop.example', processes[0] ?? '');
    [nginx, port] = await startNginx(home.folder, join(project.folder, 'site.conf'), processes);
  });

  afterAll(async () => {
    const ended = nginx && once(nginx, 'exit');
    nginx?.kill('SIGTERM');
    await ended;
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
    const isThere = async (): Promise<boolean> => (await ask(`/orders/${id}`)).status === 200;
    const endsAt = Date.now() + 20_000;
    while (!(await isThere()) && Date.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 50));
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

/** A port that was free a moment ago: nginx cannot be asked for any. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts nginx with the configuration of the example around which the rest is as short as it can be. */
async function startNginx(
  folder: string,
  file: string,
  processes: readonly string[],
): Promise<[process: ChildProcess, port: number]> {
  const [port, plainPort] = [await freePort(), await freePort()];
  const put = (text: string, from: string, to: string): string => {
    if (!text.includes(from)) throw new Error(`site.conf has no ${from}`);
    return text.replace(from, to);
  };
  let site = readFileSync(file, 'utf8');
  site = put(site, '127.0.0.1:3001', new URL(processes[0] ?? '').host);
  site = put(site, '127.0.0.1:3002', new URL(processes[1] ?? '').host);
  site = put(site, 'listen 443 ssl', `listen 127.0.0.1:${port} ssl`);
  site = put(site, 'listen 80', `listen 127.0.0.1:${plainPort}`);
  site = put(site, '/etc/letsencrypt/live/shop.example/fullchain.pem', join(folder, 'cert.pem'));
  site = put(site, '/etc/letsencrypt/live/shop.example/privkey.pem', join(folder, 'key.pem'));
  writeFileSync(join(folder, 'cert.pem'), localhostCertificate.cert);
  writeFileSync(join(folder, 'key.pem'), localhostCertificate.key);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const http = `http { access_log off; ${paths}\n${site}\n}`;
  const configuration = `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr warn;\nevents {}\n${http}`;
  writeFileSync(join(folder, 'nginx.conf'), configuration);
  const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await listening(nginx, port);
  return [nginx, port];
}

async function listening(nginx: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (nginx.exitCode !== null) throw new Error('nginx has ended; what it says is above.');
    const isOpen = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
