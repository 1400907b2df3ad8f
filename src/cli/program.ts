import { Command, CommanderError } from 'commander';
import type { Cli } from './cli.js';
import { addDoctor } from './doctor.js';
import { addKeygen } from './keygen.js';
import { addLedger } from './ledger.js';
import { addMigrate } from './migrate.js';
import { readManifest } from './package-manifest.js';
import { addSequencer } from './sequencer.js';
import { paint, type Terminal } from './terminal.js';

/** All commands, with their help. It never ends the process: what is not understood is thrown. */
export function createProgram(cli: Cli): Command {
  const { terminal } = cli;
  const program = new Command('express-intents')
    .description('Wallet payments and wallet logins for Express: what there is to do beside the site.')
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
    .showHelpAfterError('--help tells what there is.');
  // Not by `version()`: the file is read by who asks for it.
  program.on('option:version', () => {
    terminal.out(readManifest().version);
    throw new CommanderError(0, 'commander.version', '');
  });
  for (const add of [addKeygen, addDoctor, addSequencer, addMigrate, addLedger]) add(program, cli);
  return program;
}

/** One text can have several lines, and its last ends by itself. */
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

/** `error: unknown command 'x'` in the words of the rest. */
function asSentence(text: string): string {
  const sentence = text.replace(/^error: (.)/, (_all, first: string) => first.toUpperCase());
  return sentence.replace(/^([^\n]*[^\n.?)])(?=\n)/, '$1.');
}
