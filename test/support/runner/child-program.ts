import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(
  new URL(`../../../node_modules/.cache/express-intents/programs-${process.pid}`, import.meta.url),
);
const running = new Set<ChildProcess>();

/** Compiles a program of the tests with the sources that it uses; gives the file to start. */
export async function compile(program: URL): Promise<string> {
  const outfile = path.join(folder, `${path.basename(program.pathname, '.ts')}.mjs`);
  // Loaded here: every test with a Postgres server imports this module.
  const { build } = await import('esbuild');
  const entryPoints = [fileURLToPath(program)];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outfile;
}

/** A program that runs in a process of its own, and speaks in lines of JSON. */
export interface ChildProgram {
  readonly process: ChildProcess;
  /** The next line that it says. */
  next(): Promise<unknown>;
  /** Says a line to it, and gives the next line that it says. Answers come in the order of the lines. */
  ask(line: object): Promise<unknown>;
  /** Ends it as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>;
  /** Once it has ended by itself. */
  readonly ended: Promise<unknown>;
}

/** Starts what `compile` gave. Whatever still runs when the test file is done is killed. */
export function start(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): ChildProgram {
  // They do not live long enough for WebAssembly that is compiled better.
  const child = spawn(process.execPath, ['--liftoff-only', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  const ended = once(child, 'exit').finally(() => running.delete(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${path.basename(file)} has ended without a word.`);
    return JSON.parse(value);
  };
  return {
    process: child,
    ended,
    next,
    ask(line) {
      child.stdin.write(`${JSON.stringify(line)}\n`);
      return next();
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

afterAll(async () => {
  await Promise.all(
    [...running].map(async (child) => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }),
  );
  rmSync(folder, { recursive: true, force: true });
});
