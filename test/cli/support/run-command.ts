import type { Host } from '../../../src/cli/command.js';
import { run } from '../../../src/cli/program.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import { checkForSecrets } from '../../support/runner/watch-for-leaks.js';

/** The exit code and the output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export interface Setting extends Partial<Pick<Terminal, 'colors' | 'columns' | 'interrupted'>> {
  /** The standard input. */
  readonly input?: string;
  readonly host?: Host;
}

/** Runs a command in this process, without a terminal. Its output is searched for secrets. */
export async function runCommand(args: readonly string[], setting: Setting = {}): Promise<CommandResult> {
  const { input = '', host, ...terminalOptions } = setting;
  const lines = { out: [] as string[], error: [] as string[] };
  const terminal: Terminal = {
    out: (line) => lines.out.push(line),
    error: (line) => lines.error.push(line),
    colors: { out: false, error: false },
    columns: undefined,
    progress: () => undefined,
    writeLine: async (line) => {
      lines.out.push(line);
    },
    inputLines: async function* () {
      yield* input.split('\n');
    },
    interrupted: async () => undefined,
    ...terminalOptions,
  };
  const code = await run(args, terminal, host);
  const result = { code, out: lines.out.join('\n'), error: lines.error.join('\n') };
  checkForSecrets('a command', `${result.out}\n${result.error}`);
  return result;
}
