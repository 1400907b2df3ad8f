import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConsumerProject, type Ended, logPorts, root } from '../package/consumer-project.js';

/** Packages of the examples that have another name in this repository. */
const aliases: Readonly<Record<string, string>> = { 'express@^4.21.0': 'express4' };

/** A copy of an example outside of this repository, with its dependencies and the packed package. */
export class ExampleProject {
  /** The folder of the copy. */
  readonly folder: string;
  readonly #running = new Set<ChildProcessWithoutNullStreams>();

  /** @param home has the package installed. The copy is in a folder of it and resolves its packages */
  constructor(name: string, home: ConsumerProject) {
    this.folder = home.path(name);
    cpSync(join(root, 'docs/examples', name), this.folder, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8'));
    for (const [wanted, range] of Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies })) {
      if (wanted !== 'express-intents') home.link(wanted, { here: aliases[`${wanted}@${range}`], from: name });
    }
    home.link('.bin', { from: name });
    writeFileSync(join(this.folder, 'log-ports.mjs'), logPorts);
  }

  /** Runs a script of its package.json to its end. */
  async run(script: string, environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = this.#npm(script, environment);
    const printed = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk) => {
        printed[stream] += chunk;
      });
    }
    const [code] = await once(child, 'close');
    return { code, ...printed };
  }

  /** Runs its `npm start`. Resolves with its origins when it listens on `count` ports. */
  async start(count: number, environment: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
    const options = {
      NODE_OPTIONS: `--import=${join(this.folder, 'log-ports.mjs')}`,
      PORT: '0',
      INTENT_SIMULATOR_PORT: '0',
    };
    const child = this.#npm('start', { ...options, ...environment });
    let printed = '';
    child.stderr.on('data', (chunk) => {
      printed += chunk;
    });
    // A site that logs requests would fail if its output were closed.
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      printed += chunk;
      const ports = [...printed.matchAll(/^listening .*"port":(\d+)/gm)].map(([, port]) => `http://127.0.0.1:${port}`);
      if (ports.length < count) continue;
      child.stdout.resume();
      return ports;
    }
    throw new Error(`The example has ended:\n${printed}`);
  }

  #npm(script: string, environment: NodeJS.ProcessEnv): ChildProcessWithoutNullStreams {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:INTENT_|NODE_|PORT$|npm_)/.test(name));
    const env = { ...Object.fromEntries(inherited), ...environment };
    // Its own process group: npm starts a shell, which starts the site.
    const child = spawn('npm', ['run', '--silent', script], { cwd: this.folder, env, detached: true });
    child.stdin.end();
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  /** Ends all running scripts. */
  async end(): Promise<void> {
    for (const child of this.#running) {
      const ended = once(child, 'close');
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
      child.stdout.resume();
      await ended;
    }
  }
}
