import { IntentError } from '../errors.js';
import { keygen } from './keygen.js';
import { ledger } from './ledger.js';
import { migrate } from './migrate.js';
import { sequencer } from './sequencer.js';

/** Where a command prints to. */
export interface Terminal {
  out(line: string): void;
  error(line: string): void;
}

/** Runs with what stands behind the command's name; gives the exit code. */
export type Command = (args: string[], terminal: Terminal) => number | Promise<number>;

const commands: Readonly<Record<string, Command>> = { keygen, migrate, ledger, sequencer };

const help = `Usage: express-intents <command>

Commands:
  keygen      print a new verifier key as a line for .env
  migrate     make the tables of the ledger that INTENT_DATABASE_URL names, or bring them up to date
  ledger list
              show what is in that ledger, the newest first
                --state <state>             such as dead, for what a hook has given up on
                --limit <number>            default 20
                --after <cursor>            where the page before has ended
                --json                      for programs
  ledger show <id>
              show one intent and what has become of it; --json for programs
  ledger retry <id>
              take up again what is dead, expired or reversed
  sequencer   start the embedded sequencer and its simulated wallet, for development
                --port <number>             default 4747
                --grpc-port <number>        for direct gRPC; without it there is none
                --state <file>              keeps the intents, so that they outlive the process
                --local <domain>=<origin>   where to read the key file of a domain, such as
                                            shop.example=http://127.0.0.1:3000; may be repeated`;

/** The command line `express-intents ...`; gives the exit code: 0 well, 1 failed, 2 not understood. */
export async function run(args: string[], terminal: Terminal): Promise<number> {
  const [name = 'help', ...rest] = args;
  if (name === 'help' || args.some((arg) => arg === '--help' || arg === '-h')) {
    terminal.out(help);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    terminal.error(`There is no command "${name}".\n\n${help}`);
    return 2;
  }
  try {
    return await command(rest, terminal);
  } catch (error) {
    terminal.error((error as Error).message);
    return isUsageError(error) ? 2 : 1;
  }
}

/** What `node:util`'s parseArgs throws for flags it does not know, and what commands say of an argument. */
function isUsageError(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (error instanceof IntentError) return code === 'invalid_request' || code === 'invalid_id';
  return typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS');
}
