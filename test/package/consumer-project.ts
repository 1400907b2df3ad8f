import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

/** What a process printed, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A project in a folder of its own, far from this one, that has installed the tarball: the package itself, what it
 * depends on and what it says it needs beside it. Nothing else of ours can be found from there.
 */
export class ConsumerProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'express-intents-consumer-'));

  static async create(): Promise<ConsumerProject> {
    const project = new ConsumerProject();
    const { filename } = await pack('--pack-destination', project.folder);
    const installed = project.path('node_modules/express-intents');
    mkdirSync(installed, { recursive: true });
    const tarball = project.path(filename);
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
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

  /** Runs node here and waits for its end, 20 seconds at the most. */
  async node(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = this.spawn(args, environment);
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      printed.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      printed.stderr += chunk;
    });
    const killer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const [code] = await once(child, 'close');
    clearTimeout(killer);
    return { code, ...printed };
  }

  spawn(args: string[], environment: NodeJS.ProcessEnv = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:INTENT_|NODE_|PORT$|npm_)/.test(name));
    const env = { ...Object.fromEntries(inherited), ...environment };
    return spawn(process.execPath, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
