import type { Command } from 'commander';
import { IntentError } from '../errors.js';
import { listIntents, parseListOptions, scannedPerPage } from '../ledger/intents/list-intents.js';
import type { ListOptions } from '../ledger/ledger.js';
import {
  addEnvFile,
  addExamples,
  type CommandContext,
  type EnvironmentOptions,
  envFileArgument,
  shellQuote,
} from './command.js';
import { formatList } from './format-intent.js';
import { withMigratedLedger } from './open-ledger.js';
import { printableJson, type Terminal } from './terminal.js';

interface ListFlags extends EnvironmentOptions {
  readonly kind?: string;
  readonly state?: string;
  readonly user?: string;
  readonly metadata?: string;
  readonly from?: string;
  readonly before?: string;
  readonly limit: string;
  readonly after?: string;
  readonly json?: boolean;
}

export function addList(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('list')
    .description('Lists the intents in the ledger, the newest first.')
    .option('--kind <kind>', 'only intents of this kind: payment or login')
    .option('--state <state>', 'only intents in this state, such as dead')
    .option('--user <id>', 'only intents of this user')
    .option('--metadata <json>', 'only payments with these members in their metadata')
    .option('--from <time>', 'only intents created at this time or later')
    .option('--before <time>', 'only intents created before this time')
    .option('--limit <number>', 'maximum number of intents', '20')
    .option('--after <cursor>', 'continue after this cursor, which the previous page printed')
    .option('--json', 'print JSON, for programs')
    .action(action((flags: ListFlags) => list(flags, terminal)));
  addEnvFile(command);
  addExamples(command, [
    ['ledger list --state dead', 'list dead letters'],
    [`ledger list --metadata '{"order":42}'`, 'find the payments of an order'],
  ]);
}

async function list(flags: ListFlags, terminal: Terminal): Promise<number> {
  const { limit, after, json } = flags;
  const filters = readFilters(flags);
  const options: ListOptions = { ...filters, limit: Number(limit), after };
  // Reports invalid options before it opens the ledger.
  parseListOptions(options);
  const isFiltered = Object.keys(filters).length > 0;
  return withMigratedLedger(flags, terminal, 'list', async (db) => {
    const { intents, next } = await listIntents(db, options);
    if (json) {
      terminal.out(printableJson({ intents, next }));
      return 0;
    }
    if (intents.length > 0) for (const line of formatList(intents)) terminal.out(line);
    else if (isFiltered && next)
      terminal.out(`No match in the ${scannedPerPage} intents searched. Continue with the command below.`);
    else if (isFiltered) terminal.out('No intent matches.');
    else terminal.out('The ledger has no intents.');
    if (next)
      terminal.out(
        `\nMore: npx express-intents ledger list${filterArguments(flags)} --limit ${limit} --after ${next}${envFileArgument(flags)}`,
      );
    return 0;
  });
}

const filterNames = ['kind', 'state', 'user', 'metadata', 'from', 'before'] as const;

/** The given filters: an undefined one would be an error. */
function readFilters({ kind, state, user, metadata, from, before }: ListFlags): ListOptions {
  const filters = {
    kind,
    state,
    userId: user,
    metadata: metadata === undefined ? undefined : parseMetadata(metadata),
    createdFrom: parseTime('--from', from),
    createdBefore: parseTime('--before', before),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

function parseMetadata(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new IntentError('invalid_request', `--metadata must be JSON, such as '{"order":42}'.`);
  }
}

/** A date alone is the start of the day in UTC. */
const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

function parseTime(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (timeForm.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new IntentError(
    'invalid_request',
    `${flag} must be a date or time, such as 2026-01-31 or 2026-01-31T12:00:00Z.`,
  );
}

/** The given filters, for a printed command. */
function filterArguments(flags: ListFlags): string {
  return filterNames
    .flatMap((name) => (flags[name] === undefined ? [] : [` --${name} ${shellQuote(flags[name])}`]))
    .join('');
}
