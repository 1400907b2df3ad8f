import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { packageFile } from '../package-file.js';
import { type CommandContext, printError, systemHost } from './command.js';
import { addDoctor } from './doctor.js';
import { addKeygen } from './keygen.js';
import { addLedger } from './ledger.js';
import { addMigrate } from './migrate.js';
import { addSimulator } from './simulator.js';
import { paint, type Terminal } from './terminal.js';

/** Runs `express-intents <args>` and returns the exit code: 0 for success, 1 for failure, 2 for wrong usage. */
export async function run(args: readonly string[], terminal: Terminal, host = systemHost): Promise<number> {
  let exitCode = 0;
  const action: CommandContext['action'] =
    (work) =>
    async (...given) => {
      exitCode = await work(...given);
    };
  try {
    const program = createProgram({ terminal, host, action });
    await program.parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' });
    return exitCode;
  } catch (error) {
    return printError(error, terminal);
  }
}

/** All commands, with their help. Wrong usage throws and never ends the process. */
export function createProgram(context: CommandContext): Command {
  const { terminal } = context;
  const program = new Command('express-intents')
    .description('Wallet payments and wallet logins for Express: keys, checks, the simulator and the ledger.')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .option('-v, --version', 'print the version of this package')
    .exitOverride()
    .configureOutput(outputTo(terminal))
    .configureHelp({
      styleTitle: (text) => paint('bold', text),
      styleCommandText: (text) => paint('cyan', text),
      styleSubcommandText: (text) => paint('cyan', text),
      styleOptionText: (text) => paint('cyan', text),
      styleArgumentText: (text) => paint('cyan', text),
    })
    .showHelpAfterError('See --help.');
  // Commander's `version()` needs the text, so package.json would be read at every start.
  program.on('option:version', () => {
    terminal.out(packageVersion());
    throw new CommanderError(0, 'commander.version', '');
  });
  for (const add of [addKeygen, addDoctor, addSimulator, addMigrate, addLedger]) add(program, context);
  return program;
}

function packageVersion(): string {
  return JSON.parse(readFileSync(packageFile('../package.json'), 'utf8')).version;
}

/** Commander and the terminal both end a text with a line break. */
const withoutLastBreak = (text: string): string => text.replace(/\n$/, '');

function outputTo({ out, error, colors, columns }: Terminal) {
  return {
    writeOut: (text: string) => out(withoutLastBreak(text)),
    writeErr: (text: string) => error(withoutLastBreak(text)),
    outputError: (text: string) => error(withoutLastBreak(asSentence(text))),
    getOutHelpWidth: () => columns ?? 100,
    getErrHelpWidth: () => columns ?? 100,
    getOutHasColors: () => colors.out,
    getErrHasColors: () => colors.error,
  };
}

/** Turns `error: unknown command 'x'` into a sentence. */
function asSentence(text: string): string {
  const sentence = text.replace(/^error: (.)/, (_all, first: string) => first.toUpperCase());
  return sentence.replace(/^([^\n]*[^\n.?)])(?=\n)/, '$1.');
}
