import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ledgerFolder } from './shop-fixture.js';

// The shop and its demo client, each in its own process.

const dist = new URL('../../example-app/dist/', import.meta.url);
export type Variables = Readonly<Record<string, string>>;

/** A process with its output so far. */
export class Program {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  output = '';
  errors = '';
  hasEnded = false;

  /** Runs with only these variables. A busy machine may take long to shut down. */
  constructor(script: string, variables: Variables) {
    const env = { PATH: process.env.PATH, SHUTDOWN_TIMEOUT_MS: '100000', ...variables } as NodeJS.ProcessEnv;
    this.#child = spawn(process.execPath, [fileURLToPath(new URL(script, dist))], { env });
    this.#ended = once(this.#child, 'close').finally(() => {
      this.hasEnded = true;
    });
    this.#child.stdout.on('data', (chunk) => {
      this.output += chunk;
    });
    this.#child.stderr.on('data', (chunk) => {
      this.errors += chunk;
    });
  }

  async printed(text: string): Promise<this> {
    const ended = this.#ended.then(() => {
      throw new Error(`The process ended before it printed ${text}: ${this.output}${this.errors}`);
    });
    ended.catch(() => undefined);
    while (!this.output.includes(text)) await Promise.race([once(this.#child.stdout, 'data'), ended]);
    return this;
  }

  async end(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

const programs: Program[] = [];

export function run(script: string, variables: Variables): Program {
  const program = new Program(script, variables);
  programs.push(program);
  return program;
}

afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.signal('SIGKILL');
    await program.end();
  }
});

/** Below the ephemeral ports: another process is unlikely to take the port before its use. */
async function freePort(): Promise<string> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const isFree = once(server.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (!(await isFree)) continue;
    await once(server.close(), 'close');
    return String(port);
  }
}

/** Free ports and a folder for the ledger of a shop. */
export async function newSettings(): Promise<{
  PORT: string;
  INTENT_SIMULATOR_PORT: string;
  INTENT_DATABASE_URL: string;
}> {
  const INTENT_DATABASE_URL = await ledgerFolder();
  return { PORT: await freePort(), INTENT_SIMULATOR_PORT: await freePort(), INTENT_DATABASE_URL };
}

/** Starts a shop and waits until it is open. */
export const startShop = (variables: Variables): Promise<Program> => run('server.js', variables).printed('/wallet\n');
