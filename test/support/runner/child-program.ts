import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const folder = fileURLToPath(
  new URL(`../../../node_modules/.cache/express-intents/programs-${process.pid}`, import.meta.url),
);
const running = new Set<ChildProcess>();

/**
 * Compiles a test program with the sources that it uses.
 * @param project a folder where the package is installed, which the program then uses instead of `src/index.ts`
 * @returns the file to start
 */
export async function compile(program: URL, project?: string): Promise<string> {
  const outfile = path.join(project ?? folder, `${path.basename(program.pathname, '.ts')}.mjs`);
  // Loaded here: every test with a Postgres server imports this module.
  const { build } = await import('esbuild');
  const entryPoints = [fileURLToPath(program)];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    packages: 'external',
    plugins: project === undefined ? [] : [usesPackage],
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outfile;
}

const usesPackage: Plugin = {
  name: 'uses-package',
  setup: (build) =>
    build.onResolve({ filter: /\/src\/index\.js$/ }, () => ({ path: 'express-intents', external: true })),
};

/** A program in a separate process, which writes lines of JSON. */
export interface ChildProgram {
  readonly process: ChildProcess;
  /** Resolves with the next line that it prints. */
  next(): Promise<unknown>;
  /** Sends a line, and resolves with the next line that it prints. Responses come in the order of the lines. */
  ask(line: object): Promise<unknown>;
  /** Kills it with `kill -9`, and waits for its end. */
  kill(): Promise<void>;
  /** Resolves when it has exited. */
  readonly ended: Promise<unknown>;
}

/** Starts a compiled program. It is killed after the test file if it still runs. */
export function start(file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): ChildProgram {
  // They end before optimized WebAssembly pays off.
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
