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
  readonly typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Runs `npm pack` without a build. @returns the report of npm */
export const pack = (...flags: string[]): Promise<Packed> => packIn(root, flags);

async function packIn(cwd: string, flags: readonly string[]): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--offline', '--no-update-notifier', ...flags];
  const { stdout } = await promisify(execFile)('npm', args, { cwd });
  const [tarball] = JSON.parse(stdout) as Packed[];
  if (!tarball) throw new Error(`npm packed nothing: ${stdout}`);
  return tarball;
}

/** Packs the existing build of this repository or of a copy, and unpacks the tarball into a folder. */
async function unpackInto(folder: string, repository = root): Promise<void> {
  const { filename } = await packIn(repository, ['--pack-destination', folder]);
  const tarball = join(folder, filename);
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  rmSync(tarball);
}

/** The output and exit code of a process. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A site in a separate process, with a simulator. */
export interface RunningSite {
  readonly origin: string;
  /** base_url of its sequencer. */
  readonly simulator: string;
  kill(): void;
}

/** Makes a process print the addresses of its servers. */
export const logPorts = `
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('listening', JSON.stringify(this.address())));
  return listen.apply(this, args);
};`;

/**
 * A project in a temporary folder that has installed the tarball, its dependencies and its peer dependencies. Nothing else of
 * this repository is accessible from there.
 */
export class ConsumerProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'express-intents-consumer-'));

  /** @param repository a copy of this repository with a build of its own, to pack instead */
  static async create(repository?: string): Promise<ConsumerProject> {
    const project = new ConsumerProject();
    const installed = project.path('node_modules/express-intents');
    mkdirSync(installed, { recursive: true });
    if (repository !== undefined) await unpackInto(installed, repository);
    else cpSync(await madeOnce(join(tmpdir(), 'packed'), unpackInto), installed, { recursive: true });
    const needed = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
    for (const name of needed) project.link(name);
    // No `type`: the extensions .mjs, .cjs, .mts and .cts set it.
    project.write('package.json', '{ "private": true }');
    return project;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Copies the content of a folder of this repository, such as `docs/examples/tested-shop`. */
  copy(folder: string, to = '.'): void {
    cpSync(join(root, folder), this.path(to), { recursive: true });
  }

  /**
   * Installs a package from the node_modules of this repository, optionally under another name or for one folder. Replaces an
   * existing one.
   */
  link(name: string, { here = name, from = '' }: { here?: string | undefined; from?: string } = {}): void {
    const target = join(root, 'node_modules', here);
    if (!existsSync(target)) throw new Error(`${here} is not installed.`);
    const path = this.path(join(from, 'node_modules', name));
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(target, path);
  }

  /** Removes a package. */
  unlink(name: string): void {
    rmSync(this.path(`node_modules/${name}`));
  }

  /** Runs node in the project or one of its folders, and waits for its end, by default at most 200 seconds, which only a program that hangs takes. */
  async node(
    args: string[],
    environment: NodeJS.ProcessEnv = {},
    { timeoutMs = 200_000, folder = '.' } = {},
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

  /**
   * Runs a site in the project, and waits until it and its sequencer listen, the latter only on 127.0.0.1. A site that listens
   * only there too does so after its sequencer.
   */
  async startSite(args: string[], environment: NodeJS.ProcessEnv): Promise<RunningSite> {
    const preload = `data:text/javascript,${encodeURIComponent(logPorts)}`;
    const site = this.spawn(['--import', preload, ...args], environment);
    const printed: string[] = [];
    site.stderr.on('data', (chunk) => printed.push(String(chunk)));
    let buffered = '';
    for await (const chunk of site.stdout) {
      buffered += chunk;
      const listening = [...buffered.matchAll(/^listening (.*)\n/gm)].map(([, json]) => JSON.parse(json as string));
      const servers = listening.filter(({ port }) => port);
      const simulator = servers.find(({ address }) => address === '127.0.0.1');
      const open = servers.find((server) => server !== simulator);
      if (simulator && open) {
        const at = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;
        return { origin: at(open), simulator: at(simulator), kill: () => void site.kill('SIGKILL') };
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
