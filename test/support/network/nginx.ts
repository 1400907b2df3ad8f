import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';

// Used only by `*.nginx.test.ts`, which `npm run test:nginx` runs if nginx is installed.

/** The folder of the example behind nginx. */
export const exampleFolder = fileURLToPath(new URL('../../../docs/examples/nginx', import.meta.url));

/** The ports and files that are inserted into the configuration of the example. */
export interface NginxPlaces {
  readonly port: number;
  readonly plainPort: number;
  /** The host and port of each process. */
  readonly processes: readonly string[];
  /** Without a certificate it serves http. */
  readonly files?: { readonly certificate: string; readonly key: string };
}

/** The configuration of the example, with only ports and files replaced. */
export function exampleSite({ port, plainPort, processes, files }: NginxPlaces): string {
  const text = readFileSync(join(exampleFolder, 'site.conf'), 'utf8');
  const parameters = /^ *server 127\.0\.0\.1:\d+(.*);$/m.exec(text)?.[1] ?? '';
  const servers = processes.map((process) => `    server ${process}${parameters};\n`).join('');
  const certificates = /^ *ssl_certificate .*\n *ssl_certificate_key .*\n/m;
  const replace: [RegExp, string][] = [
    [/(^ *server 127\.0\.0\.1:\d+.*;\n)+/m, servers],
    [/listen 443 ssl/, `listen 127.0.0.1:${port}${files ? ' ssl' : ''}`],
    [/listen 80/, `listen 127.0.0.1:${plainPort}`],
    [certificates, files ? `ssl_certificate ${files.certificate};\nssl_certificate_key ${files.key};\n` : ''],
  ];
  return replace.reduce((site, [from, to]) => {
    if (!from.test(site)) throw new Error(`site.conf has no ${from}`);
    return site.replace(from, to);
  }, text);
}

/** A running nginx, with the shortest possible configuration around that of the example. */
export class Nginx {
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  /** @param port its port */
  static async start(site: string, port: number): Promise<Nginx> {
    const folder = mkdtempSync(join(tmpdir(), 'express-intents-nginx-'));
    writeFileSync(join(folder, 'site.conf'), site);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const paths = temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
    const log = `log_format short '$status $request_method $uri $upstream_status'; access_log ${folder}/access.log short;`;
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const main = `${user} daemon off; pid ${folder}/nginx.pid; error_log stderr crit; worker_shutdown_timeout 1m;`;
    writeFileSync(
      join(folder, 'nginx.conf'),
      `${main}\nevents { worker_connections 4096; }\nhttp { ${log} ${paths}\ninclude ${folder}/site.conf;\n}`,
    );
    const nginxPath = execFileSync('sh', ['-c', 'command -v nginx'], { encoding: 'utf8' }).trim();
    // Commands of an administrator must find this nginx.
    mkdirSync(join(folder, 'bin'));
    const command = `#!/bin/sh\nexec ${nginxPath} -p ${folder} -e stderr -c ${folder}/nginx.conf "$@"\n`;
    writeFileSync(join(folder, 'bin/nginx'), command, { mode: 0o755 });
    const child = spawn(join(folder, 'bin/nginx'), [], { stdio: ['ignore', 'ignore', 'inherit'] });
    await listening(child, port);
    return new Nginx(folder, child);
  }

  /** The configuration file that an administrator edits. */
  get siteFile(): string {
    return join(this.#folder, 'site.conf');
  }

  /** Environment variables of the shell of an administrator, so `nginx` is this one. */
  get environment(): { readonly PATH: string } {
    return { PATH: `${this.#folder}/bin:${process.env.PATH}` };
  }

  /** A line for each response: its status, method and path, and the status from each process that was tried. */
  log(): string[] {
    return readFileSync(join(this.#folder, 'access.log'), 'utf8').split('\n').filter(Boolean);
  }

  async end(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}

/** Below the ports that the system chooses for servers and connections, for up to 27 workers. */
const firstPort = 30_000;
const portsOfWorker = 100;
/** Another run of the tests begins elsewhere. */
let chosen = process.pid % portsOfWorker;

/** A free port: nginx cannot choose one. No other worker, and no other program that lets the system choose, takes it. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < portsOfWorker; attempt += 1) {
    const port = firstPort + portsOfWorker * Number(process.env.JEST_WORKER_ID) + (chosen++ % portsOfWorker);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`None of ${portsOfWorker} ports is free.`);
}

async function listening(nginx: ChildProcess, port: number): Promise<void> {
  await eventually('nginx listens', async () => {
    if (nginx.exitCode !== null) throw new Error('nginx has ended. Its error is above.');
    // A connection without a request, which would reach a process.
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
}
