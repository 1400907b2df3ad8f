import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { madeOnce } from '../support/runner/made-once.js';

/** The root of this repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

interface Manifest {
  readonly type?: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

/** Runs `npm pack` on what is built, without building; gives what npm says of the tarball. */
export async function pack(...flags: string[]): Promise<{ filename: string; files: { path: string }[] }> {
  const args = ['pack', '--json', '--ignore-scripts', '--offline', '--no-update-notifier', ...flags];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  const [tarball] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (!tarball) throw new Error(`npm packed nothing: ${stdout}`);
  return tarball;
}

/** Packs what is built, and unpacks the tarball into a folder. */
async function unpackInto(folder: string): Promise<void> {
  const { filename } = await pack('--pack-destination', folder);
  const tarball = join(folder, filename);
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  rmSync(tarball);
}

/** What a process printed, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A site that runs in a process of its own, with the embedded sequencer in it. */
export interface RunningSite {
  readonly origin: string;
  /** base_url of its sequencer. */
  readonly sequencer: string;
  kill(): void;
}

/** Has a process tell where its servers listen, as a site does not. */
export const logPorts = `
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('listening', JSON.stringify(this.address())));
  return listen.apply(this, args);
};`;

/**
 * A project in a folder of its own, far from this one, that has installed the tarball: the package itself, what it
 * depends on and what it says it needs beside it. Nothing else of ours can be found from there.
 */
export class ConsumerProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'express-intents-consumer-'));

  static async create(): Promise<ConsumerProject> {
    const project = new ConsumerProject();
    const packed = await madeOnce(join(tmpdir(), 'packed'), unpackInto);
    cpSync(packed, project.path('node_modules/express-intents'), { recursive: true });
    const needed = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
    for (const name of needed) project.link(name);
    // No type of its own: .mjs and .cjs, .mts and .cts say what they are.
    project.write('package.json', '{ "private": true }');
    return project;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Copies what is in a folder of this repository, such as `docs/examples/getting-started`. */
  copy(folder: string, to = '.'): void {
    cpSync(join(root, folder), this.path(to), { recursive: true });
  }

  /**
   * Installs a package from this repository's own node_modules, where it may have another name; or for one folder alone.
   * What is there already is replaced.
   */
  link(name: string, { here = name, from = '' }: { here?: string | undefined; from?: string } = {}): void {
    const target = join(root, 'node_modules', here);
    if (!existsSync(target)) throw new Error(`${here} is not installed.`);
    const path = this.path(join(from, 'node_modules', name));
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(target, path);
  }

  /** Takes a package away again. */
  unlink(name: string): void {
    rmSync(this.path(`node_modules/${name}`));
  }

  /** Runs node here, or in a folder of it, and waits for its end, 20 seconds at the most unless it is said. */
  async node(
    args: string[],
    environment: NodeJS.ProcessEnv = {},
    { timeoutMs = 20_000, folder = '.' } = {},
  ): Promise<Ended> {
    const child = this.spawn(args, environment, folder);
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      printed.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      printed.stderr += chunk;
    });
    const killer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const [code] = await once(child, 'close');
    clearTimeout(killer);
    return { code, ...printed };
  }

  /** Runs a site here, and waits until it and the sequencer in it listen: that one on 127.0.0.1 alone. */
  async startSite(args: string[], environment: NodeJS.ProcessEnv): Promise<RunningSite> {
    const preload = `data:text/javascript,${encodeURIComponent(logPorts)}`;
    const site = this.spawn(['--import', preload, ...args], environment);
    const printed: string[] = [];
    site.stderr.on('data', (chunk) => printed.push(String(chunk)));
    let buffered = '';
    for await (const chunk of site.stdout) {
      buffered += chunk;
      const listening = [...buffered.matchAll(/^listening (.*)\n/gm)].map(([, json]) => JSON.parse(json as string));
      const sequencer = listening.find(({ address }) => address === '127.0.0.1');
      const open = listening.find(({ address }) => address === '::' || address === '0.0.0.0');
      if (sequencer && open) {
        const at = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;
        return { origin: at(open), sequencer: at(sequencer), kill: () => void site.kill('SIGKILL') };
      }
    }
    throw new Error(`The site ended:\n${buffered}${printed.join('')}`);
  }

  spawn(args: string[], environment: NodeJS.ProcessEnv = {}, folder = '.') {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:INTENT_|NODE_|JEST_|PORT$|npm_)/.test(name));
    const env = { ...Object.fromEntries(inherited), ...environment };
    return spawn(process.execPath, args, { cwd: this.path(folder), env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
