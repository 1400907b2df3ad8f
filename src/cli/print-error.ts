import { CommanderError } from 'commander';
import { readError } from '../emulator/outbound/read-error.js';
import { ConfigError, IntentError, type IntentErrorCode } from '../errors.js';
import { printable } from './printable.js';
import { paint, type Terminal } from './terminal.js';

/** Codes that say something of an argument. */
const ofArguments: ReadonlySet<IntentErrorCode> = new Set(['invalid_request', 'invalid_id', 'invalid_client_secret']);

/** Tells why a command has failed, without a stack; gives the exit code: 1 failed, 2 not understood. */
export function printError(error: unknown, terminal: Terminal): number {
  terminal.progress();
  // What is not understood has been told, and so has the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) printProblems(error, terminal);
  else for (const line of messageOf(error).split('\n')) terminal.error(printable(line));
  return error instanceof IntentError && ofArguments.has(error.code) ? 2 : 1;
}

function printProblems({ problems }: ConfigError, { error, colors }: Terminal): void {
  for (const { setting, problem, mend } of problems) {
    error(printable(`${setting}: ${problem}`));
    error(`  ${paint('cyan', `-> ${printable(mend)}`, colors.error)}`);
  }
}

const messageOf = (error: unknown): string => String(readError(error).message ?? error);
