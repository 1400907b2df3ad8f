import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.js';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const children: ChildProcess[] = [];

/** A command as a process of its own. */
export interface StartedCommand {
  readonly child: ChildProcess;
  readonly printed: { out: string; error: string };
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Starts the command of the built package as people do. It is killed at the end of the test, if it has not ended. */
export function startCommand(args: readonly string[], environment: NodeJS.ProcessEnv = {}): StartedCommand {
  const { NODE_ENV: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], { env: { ...inherited, ...environment } });
  children.push(child);
  const printed = { out: '', error: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.error += chunk;
  });
  return { child, printed, ended: once(child, 'close').then(([code, signal]) => code ?? signal) };
}

/** Waits until it has printed something. */
export async function printed({ printed: so, ended }: StartedCommand, what: RegExp): Promise<RegExpExecArray> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await eventually(`${what} is printed`, () => hasEnded || what.test(so.out));
  const found = what.exec(so.out);
  if (!found) throw new Error(`It ended: ${so.out}${so.error}`);
  return found;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
