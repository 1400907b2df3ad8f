import type { Cli } from './cli.js';
import { systemWorld } from './doctor/world.js';
import { printError } from './print-error.js';
import { createProgram } from './program.js';
import type { Terminal } from './terminal.js';

/** The command line `express-intents ...`; gives the exit code: 0 well, 1 failed, 2 not understood. */
export async function run(args: readonly string[], terminal: Terminal, world = systemWorld): Promise<number> {
  let exitCode = 0;
  const action: Cli['action'] =
    (work) =>
    async (...given) => {
      exitCode = await work(...given);
    };
  try {
    const program = createProgram({ terminal, world, action });
    await program.parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' });
    return exitCode;
  } catch (error) {
    return printError(error, terminal);
  }
}
