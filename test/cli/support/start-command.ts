import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.js';

/** The file of the built command. */
export const main = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const children: ChildProcess[] = [];

/** A command in its own process. */
export interface StartedCommand {
  readonly child: ChildProcess;
  readonly printed: { out: string; error: string };
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Starts a command of the built package. It is killed at the end of the test. @param stdout a file descriptor, or a pipe */
export function startCommand(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  stdout: number | 'pipe' = 'pipe',
): StartedCommand {
  const { NODE_ENV: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...inherited, ...environment },
    stdio: ['pipe', stdout, 'pipe'],
  });
  children.push(child);
  const printed = { out: '', error: '' };
  child.stdout?.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    printed.error += chunk;
  });
  return { child, printed, ended: once(child, 'close').then(([code, signal]) => code ?? signal) };
}

/** Waits until the output matches. */
export async function printed({ printed: output, ended }: StartedCommand, pattern: RegExp): Promise<RegExpExecArray> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await eventually(`${pattern} is printed`, () => hasEnded || pattern.test(output.out));
  const found = pattern.exec(output.out);
  if (!found) throw new Error(`The command has ended: ${output.out}${output.error}`);
  return found;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
