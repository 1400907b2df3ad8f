import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { parseEnv } from 'node:util';
import { type Command, CommanderError } from 'commander';
import { processEnvironment } from '../config/config.js';
import { type Environment, trimVariables } from '../config/variables.js';
import { ConfigError, IntentError, type IntentErrorCode, messageOf } from '../errors.js';
import { printable } from '../printable.js';
import { paint, type Terminal } from './terminal.js';

export interface HostAddress {
  readonly host: string;
  readonly port: number;
}

/** The network access of the doctor. Tests replace it. */
export interface Host {
  /** The address to connect to for a host. By default the same host, resolved by DNS. */
  addressOf(address: HostAddress): HostAddress;
  /** Trusted certificates, in PEM. Undefined for the defaults of Node. */
  readonly ca: ConnectionOptions['ca'];
  /** The time limit of one check, in milliseconds. */
  readonly checkTimeoutMs: number;
}

export const systemHost: Host = { addressOf: (address) => address, ca: undefined, checkTimeoutMs: 5_000 };

export interface CommandContext {
  readonly terminal: Terminal;
  readonly host: Host;
  /** Wraps an action that returns the exit code: 0 for success, 1 for failure. Its errors are printed without a stack. */
  action<Args extends readonly unknown[]>(
    work: (...args: Args) => number | Promise<number>,
  ): (...args: Args) => Promise<void>;
}

export interface EnvironmentOptions {
  readonly envFile?: string;
}

export function addEnvFile(command: Command): Command {
  return command.option('--env-file <file>', 'also read variables from this file; the environment takes precedence');
}

/** What sh, PowerShell or cmd.exe changes inside double quotes. */
const changedInDoubleQuotes = /["“”„$`!%\r\n]|\\\\|\\$/;

/** Quotes an argument for sh, PowerShell and cmd.exe. If no form fits all three: for sh. */
export function shellQuote(text: string): string {
  if (/^[\w:.+/-]+$/.test(text)) return text;
  return changedInDoubleQuotes.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`;
}

/** The given `--env-file`, for a printed command. */
export const envFileArgument = ({ envFile }: EnvironmentOptions): string =>
  envFile === undefined ? '' : ` --env-file ${shellQuote(envFile)}`;

/**
 * The environment that a site would start with, including variables of `--env-file`, as with `node --env-file`.
 * @throws {IntentError} `invalid_configuration` if the file cannot be read
 */
export function readEnvironment({ envFile }: EnvironmentOptions): Environment {
  if (envFile === undefined) return processEnvironment();
  return { ...trimVariables(parseEnv(readText(envFile))), ...processEnvironment() };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `The file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}). Check --env-file.`;
    throw new IntentError('invalid_configuration', message);
  }
}

export function addExamples(command: Command, examples: readonly (readonly [line: string, purpose: string])[]): void {
  const lines = examples.map(([line, purpose]) => `  ${paint('dim', `# ${purpose}`)}\n  npx express-intents ${line}`);
  command.addHelpText('after', `\n${paint('bold', 'Examples:')}\n${lines.join('\n')}`);
}

const argumentErrors: ReadonlySet<IntentErrorCode> = new Set([
  'invalid_request',
  'invalid_id',
  'invalid_client_secret',
]);

/** Prints why a command failed, without a stack, and returns the exit code: 1 for failure, 2 for wrong usage. */
export function printError(error: unknown, terminal: Terminal): number {
  terminal.progress();
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) printProblems(error, terminal);
  else for (const line of linesOf(error)) terminal.error(printable(line));
  return error instanceof IntentError && argumentErrors.has(error.code) ? 2 : 1;
}

/** A message of this package may have several lines. In another, a line break may be outside text. */
const linesOf = (error: unknown): string[] =>
  error instanceof IntentError ? error.message.split('\n') : [messageOf(error)];

function printProblems({ problems }: ConfigError, { error, colors }: Terminal): void {
  for (const { setting, problem, fix } of problems) {
    error(printable(`${setting}: ${problem}`));
    error(`  ${paint('cyan', `-> ${printable(fix)}`, colors.error)}`);
  }
}
