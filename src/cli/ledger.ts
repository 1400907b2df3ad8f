import type { Command } from 'commander';
import type { Environment } from '../config/config-options.js';
import { IntentError } from '../errors.js';
import { parseIntentId } from '../keys/base58.js';
import type { Database } from '../ledger/database/database.js';
import { exportLedger } from '../ledger/intents/export-ledger.js';
import { findIntent, historyOf, listIntents, parseListOptions } from '../ledger/intents/find-intents.js';
import { importLedger } from '../ledger/intents/import-ledger.js';
import { retryIntent } from '../ledger/intents/record-intent.js';
import type { IntentState, LedgerIntent, ListOptions } from '../ledger/ledger.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { requireMigrated } from '../ledger/migrations/migrate.js';
import type { Cli } from './cli.js';
import { addEnvFile, type EnvironmentOptions, readEnvironment } from './environment.js';
import { addExamples } from './examples.js';
import { countOf, linesOfIntent, linesOfList } from './intent-lines.js';
import { withLedgerThatIs } from './open-ledger.js';
import { printError } from './print-error.js';
import { printableJson } from './printable.js';
import { addPrune } from './prune-ledger.js';
import type { Terminal } from './terminal.js';

/** `ledger list`, `show`, `retry`, `prune`, `export` and `import`: what is in the ledger, for a person who looks after it. */
export function addLedger(program: Command, cli: Cli): void {
  const ledger = program
    .command('ledger')
    .summary('look at the intents in the ledger, take up again what was given up, move it elsewhere')
    .description('Looks into the ledger that INTENT_DATABASE_URL names. It works beside a running site on Postgres.');
  addList(ledger, cli);
  addShow(ledger, cli);
  addRetry(ledger, cli);
  addPrune(ledger, cli, inLedger);
  addExport(ledger, cli);
  addImport(ledger, cli);
}

interface ListFlags extends EnvironmentOptions {
  readonly state?: string;
  readonly limit: string;
  readonly after?: string;
  readonly json?: boolean;
}

function addList(ledger: Command, { terminal, action }: Cli): void {
  const command = ledger
    .command('list')
    .description('Shows what is in the ledger, the newest first.')
    .option('--state <state>', 'only those, such as dead, for what a hook has given up on')
    .option('--limit <number>', 'how many', '20')
    .option('--after <cursor>', 'where the page before has ended')
    .option('--json', 'print it as JSON, for programs')
    .action(action((flags: ListFlags) => list(flags, terminal)));
  addEnvFile(command);
  addExamples(command, [['ledger list --state dead', 'payments whose hook has failed too often']]);
}

function list(flags: ListFlags, terminal: Terminal): Promise<number> {
  const { state, limit, after, json } = flags;
  const options: ListOptions = { state: state as IntentState | undefined, limit: Number(limit), after };
  // Whether there is such a state, too, is told before anything is opened.
  parseListOptions(options);
  return inLedger(readEnvironment(flags), terminal, async (db) => {
    await requireMigrated(db);
    const page = await listIntents(db, options);
    if (json) {
      terminal.out(printableJson(page));
      return 0;
    }
    if (page.intents.length === 0)
      terminal.out(
        state ? `There is none that is ${state}${page.next ? ' among the newest' : ''}.` : 'There is no intent in it.',
      );
    else for (const line of linesOfList(page.intents)) terminal.out(line);
    if (page.next) {
      const same = state ? ` --state ${state}` : '';
      terminal.out(`\nMore: npx express-intents ledger list${same} --limit ${limit} --after ${page.next}`);
    }
    return 0;
  });
}

interface ShowFlags extends EnvironmentOptions {
  readonly json?: boolean;
}

function addShow(ledger: Command, { terminal, action }: Cli): void {
  const command = ledger
    .command('show')
    .description('Shows one intent, and what has become of it.')
    .argument('<id>', 'the intent id')
    .option('--json', 'print it as JSON, for programs')
    .action(action((id: string, flags: ShowFlags) => show(id, flags, terminal)));
  addEnvFile(command);
}

const canBeRetried: ReadonlySet<IntentState> = new Set(['dead', 'expired', 'reversed']);

async function show(id: string, flags: ShowFlags, terminal: Terminal): Promise<number> {
  requireId(id);
  return inLedger(readEnvironment(flags), terminal, async (db) => {
    const intent = await requireIntent(db, id);
    const history = await historyOf(db, id);
    if (flags.json) {
      terminal.out(printableJson({ intent, history }));
      return 0;
    }
    for (const line of linesOfIntent(intent, history)) terminal.out(line);
    if (canBeRetried.has(intent.state)) terminal.out(`\nTo take it up again: npx express-intents ledger retry ${id}`);
    return 0;
  });
}

function addRetry(ledger: Command, { terminal, action }: Cli): void {
  const command = ledger
    .command('retry')
    .description('Takes up again what is dead, expired or reversed.')
    .argument('<id>', 'the intent id')
    .action(action((id: string, flags: EnvironmentOptions) => retry(id, flags, terminal)));
  addEnvFile(command);
}

async function retry(id: string, flags: EnvironmentOptions, terminal: Terminal): Promise<number> {
  requireId(id);
  return inLedger(readEnvironment(flags), terminal, async (db, { watchMs }) => {
    const { state, deadHook } = await requireIntent(db, id);
    if (!(await retryIntent(db, id, watchMs))) {
      terminal.error(`There is nothing to take up again: the intent is ${state}.`);
      return 1;
    }
    const what = state === 'dead' ? `${deadHook ?? 'Its hook'} is called again` : 'It is watched again';
    terminal.out(`${what}${db.isShared ? ' by a site that runs, in a moment' : ' once the site runs'}.`);
    return 0;
  });
}

function addExport(ledger: Command, { terminal, action }: Cli): void {
  const command = ledger
    .command('export')
    .description('Prints the whole ledger as lines of JSON, all of one moment, also while a site runs on Postgres.')
    .action(
      action((flags: EnvironmentOptions) =>
        inLedger(readEnvironment(flags), terminal, async (db) => {
          await requireMigrated(db);
          terminal.error(`${countOf(await exportLedger(db, terminal.stream))} printed.`);
          return 0;
        }),
      ),
    );
  addEnvFile(command);
  addExamples(command, [['ledger export > ledger.jsonl', 'who has the file knows who has paid what']]);
}

function addImport(ledger: Command, { terminal, action }: Cli): void {
  const command = ledger
    .command('import')
    .description('Takes in from standard input what `ledger export` has printed, all of it or nothing.')
    .action(
      action((flags: EnvironmentOptions) =>
        inLedger(readEnvironment(flags), terminal, async (db) => {
          await requireMigrated(db);
          terminal.progress('importing');
          return takeIn(db, terminal);
        }),
      ),
    );
  addEnvFile(command);
  addExamples(command, [['ledger import < ledger.jsonl', 'into tables that `migrate` has made']]);
}

/** What the lines are not is no matter of the command line, which was understood. */
async function takeIn(db: Database, terminal: Terminal): Promise<number> {
  try {
    terminal.out(`${countOf(await importLedger(db, terminal.inputLines()))} taken in.`);
    return 0;
  } catch (error) {
    printError(error, terminal);
    return 1;
  }
}

/** Opening a folder takes seconds, and a database that does not answer as well. */
function inLedger(
  env: Environment,
  { progress }: Terminal,
  use: (db: Database, settings: LedgerSettings) => Promise<number>,
): Promise<number> {
  progress('opening the ledger');
  return withLedgerThatIs(env, (db, settings) => {
    progress();
    return use(db, settings);
  });
}

/** @throws {IntentError} `invalid_id` */
function requireId(text: string): void {
  try {
    parseIntentId(text);
  } catch (cause) {
    const message =
      `${JSON.stringify(text.slice(0, 60))} is not an intent id, which is the Base58 form of 32 bytes: 43 or 44 letters and digits.\n` +
      'Those in the ledger are shown by: npx express-intents ledger list';
    throw new IntentError('invalid_id', message, { cause });
  }
}

async function requireIntent(db: Database, id: string): Promise<LedgerIntent> {
  await requireMigrated(db);
  const intent = await findIntent(db, id);
  if (!intent)
    throw new IntentError('intent_not_found', `There is no intent ${id} in the ledger that INTENT_DATABASE_URL names.`);
  return intent;
}
