import { open, stat, truncate } from 'node:fs/promises';
import type { Command } from 'commander';
import { IntentError, messageOf } from '../errors.js';
import { parseIntentId } from '../keys/base58.js';
import type { Database } from '../ledger/database/database.js';
import { exportLedger } from '../ledger/intents/export-ledger.js';
import { findIntent, historyOf } from '../ledger/intents/find-intents.js';
import { pruneIntents } from '../ledger/intents/prune-intents.js';
import { retryIntent } from '../ledger/intents/retry-intent.js';
import type { IntentState, LedgerIntent } from '../ledger/ledger.js';
import { forgetHook, requiredHooks } from '../ledger/settlement/required-hooks.js';
import {
  addEnvFile,
  addExamples,
  type CommandContext,
  type EnvironmentOptions,
  envFileArgument,
  printError,
} from './command.js';
import { formatIntent, formatIntentCount } from './format-intent.js';
import { addList } from './ledger-list.js';
import { withMigratedLedger } from './open-ledger.js';
import { printableJson, type Terminal } from './terminal.js';

export function addLedger(program: Command, context: CommandContext): void {
  const ledger = program
    .command('ledger')
    .summary('list, retry, prune, export and import the intents in the ledger')
    .description('Works with the ledger at INTENT_DATABASE_URL. With Postgres the site can run at the same time.');
  for (const add of [addList, addShow, addRetry, addForgetHook, addPrune, addExport, addImport]) add(ledger, context);
}

interface ShowFlags extends EnvironmentOptions {
  readonly json?: boolean;
}

function addShow(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('show')
    .description('Shows one intent and its history.')
    .argument('<id>', 'the intent id')
    .option('--json', 'print JSON, for programs')
    .action(action((id: string, flags: ShowFlags) => show(id, flags, terminal)));
  addEnvFile(command);
}

const retryableStates: ReadonlySet<IntentState> = new Set(['dead', 'expired', 'reversed']);

async function show(id: string, flags: ShowFlags, terminal: Terminal): Promise<number> {
  requireId(id, flags);
  return withMigratedLedger(flags, terminal, 'find', async (db) => {
    const intent = await requireIntent(db, id, flags);
    const history = await historyOf(db, id);
    if (flags.json) {
      terminal.out(printableJson({ intent, history }));
      return 0;
    }
    for (const line of formatIntent(intent, history)) terminal.out(line);
    if (retryableStates.has(intent.state))
      terminal.out(`\nTo retry it: npx express-intents ledger retry ${id}${envFileArgument(flags)}`);
    return 0;
  });
}

function addRetry(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('retry')
    .description(
      'Makes the site call the failed hook of a dead letter again, or poll any other dead, expired or reversed payment.',
    )
    .argument('<id>', 'the intent id')
    .action(action((id: string, flags: EnvironmentOptions) => retry(id, flags, terminal)));
  addEnvFile(command);
}

async function retry(id: string, flags: EnvironmentOptions, terminal: Terminal): Promise<number> {
  requireId(id, flags);
  return withMigratedLedger(flags, terminal, 'retry', async (db, { watchMs }) => {
    const { state, deadLetterHook } = await requireIntent(db, id, flags);
    if (!(await retryIntent(db, id, watchMs))) {
      terminal.error(`There is nothing to retry: the intent is in the state ${state}.`);
      return 1;
    }
    const isCalled = deadLetterHook === 'onPaid' || deadLetterHook === 'onReversed';
    const poll = `poll it${isCalled ? `, and call ${deadLetterHook} again if its status requires that` : ' again'}`;
    terminal.out(db.isShared ? `A running site will soon ${poll}.` : `When the site runs, it will ${poll}.`);
    return 0;
  });
}

function addForgetHook(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('forget-hook')
    .description(
      'Forgets a hook that the site has removed. The ledger records which hooks the site has. A process that lacks one ' +
        'of them settles no payments. Run this after the last process with the hook has ended.',
    )
    .argument('<hook>', `the hook: ${requiredHooks.join(', ')}`)
    .action(action((hook: string, flags: EnvironmentOptions) => forget(hook, flags, terminal)));
  addEnvFile(command);
}

async function forget(name: string, flags: EnvironmentOptions, terminal: Terminal): Promise<number> {
  const hook = requiredHooks.find((each) => each === name);
  if (!hook) throw new IntentError('invalid_request', `The hook must be one of ${requiredHooks.join(', ')}.`);
  return withMigratedLedger(flags, terminal, undefined, async (db) => {
    if (!(await forgetHook(db, hook))) {
      terminal.error(`There is nothing to forget: ${hook} is not recorded in this ledger.`);
      return 1;
    }
    terminal.out(
      `Forgotten. Processes without ${hook} settle payments again. A process that starts with ${hook} records it again.`,
    );
    return 0;
  });
}

interface PruneFlags extends EnvironmentOptions {
  readonly olderThanDays: string;
  readonly archive?: string;
  readonly includeResources?: boolean;
}

function addPrune(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('prune')
    .description(
      'Deletes old logins, old payments in the state creating, and old payments that are settled, reversed or expired ' +
        'and no longer polled. Other payments, such as dead letters, stay.',
    )
    .requiredOption('--older-than-days <number>', 'intents created more than this many days ago')
    .option('--archive <file>', 'append the intents to this file as lines of JSON before they are deleted')
    .option('--include-resources', 'also delete payments that unlock a resource; their payers lose access')
    .action(action((flags: PruneFlags) => prune(flags, terminal)));
  addEnvFile(command);
  addExamples(command, [
    ['ledger prune --older-than-days 400 --archive old.jsonl', 'delete intents older than 400 days'],
  ]);
}

async function prune(flags: PruneFlags, terminal: Terminal): Promise<number> {
  const { olderThanDays, archive: file, includeResources } = flags;
  const days = Number(olderThanDays);
  if (!(days >= 1 && days <= 99_999)) {
    throw new IntentError('invalid_request', '--older-than-days must be a number of days from 1 to 99999.');
  }
  const archive = (path: string) => (intents: readonly object[]) =>
    appendLines(path, intents.map((intent) => `${JSON.stringify(intent)}\n`).join(''));
  return withMigratedLedger(flags, terminal, 'prune', async (db) => {
    terminal.progress('pruning');
    const count = await pruneIntents(db, {
      olderThan: new Date(Date.now() - days * 24 * 3_600_000),
      includeResources,
      archive: file === undefined ? undefined : archive(file),
    });
    terminal.out(
      `${formatIntentCount(count)} deleted${file === undefined || count === 0 ? '' : `, and archived in ${file}`}.`,
    );
    return 0;
  });
}

/**
 * Appends the lines. If a write fails, for example on a full disk, restores the file, unless another process has appended to it. The
 * file is private: it contains payers and amounts.
 */
async function appendLines(path: string, lines: string): Promise<void> {
  const bytes = Buffer.from(lines);
  const file = await open(path, 'a', 0o600);
  const before = await file.stat();
  let written = 0;
  try {
    while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
    // After a power failure the archive must contain the rows that are deleted next.
    if (before.isFile()) await file.sync();
  } catch (error) {
    if (written === 0 || (await removeEnd(path, before.size, written))) throw error;
    throw new Error(`${messageOf(error)}\n${path} has an incomplete line. Remove the line before you prune again.`);
  } finally {
    await file.close();
  }
}

/** Returns whether the written bytes were removed. Lines that another process has appended meanwhile must stay. */
async function removeEnd(path: string, size: number, written: number): Promise<boolean> {
  try {
    if ((await stat(path)).size !== size + written) return false;
    await truncate(path, size);
    return true;
  } catch {
    return false;
  }
}

function addExport(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('export')
    .description(
      'Prints the whole ledger as lines of JSON, from one snapshot. With Postgres the site can run at the same time.',
    )
    .action(
      action((flags: EnvironmentOptions) =>
        withMigratedLedger(flags, terminal, undefined, async (db) => {
          terminal.error(`${formatIntentCount(await exportLedger(db, terminal.writeLine))} exported.`);
          return 0;
        }),
      ),
    );
  addEnvFile(command);
  addExamples(command, [['ledger export > ledger.jsonl', 'keep the file private: it contains payers and amounts']]);
}

function addImport(ledger: Command, { terminal, action }: CommandContext): void {
  const command = ledger
    .command('import')
    .description('Imports the output of `ledger export` from standard input, all or nothing.')
    .action(
      action((flags: EnvironmentOptions) =>
        withMigratedLedger(flags, terminal, undefined, async (db) => {
          terminal.progress('importing');
          return importLines(db, terminal);
        }),
      ),
    );
  addEnvFile(command);
  addExamples(command, [['ledger import < ledger.jsonl', 'import into tables that `migrate` has created']]);
}

/** An invalid line is a failure, not wrong usage: exit code 1. */
async function importLines(db: Database, terminal: Terminal): Promise<number> {
  try {
    // On demand, because it loads zod.
    const { importLedger } = await import('../ledger/intents/import-ledger.js');
    terminal.out(`${formatIntentCount(await importLedger(db, terminal.inputLines()))} imported.`);
    return 0;
  } catch (error) {
    printError(error, terminal);
    return 1;
  }
}

const listCommand = (flags: EnvironmentOptions): string => `npx express-intents ledger list${envFileArgument(flags)}`;

function requireId(text: string, flags: EnvironmentOptions): void {
  try {
    parseIntentId(text);
  } catch (cause) {
    const message =
      `${JSON.stringify(text.slice(0, 60))} is not an intent id. An intent id is the Base58 form of 32 bytes: usually ` +
      `43 or 44 letters and digits.\nTo list the intents: ${listCommand(flags)}`;
    throw new IntentError('invalid_id', message, { cause });
  }
}

async function requireIntent(db: Database, id: string, flags: EnvironmentOptions): Promise<LedgerIntent> {
  const intent = await findIntent(db, id);
  if (intent) return intent;
  throw new IntentError(
    'intent_not_found',
    `There is no intent ${id} in the ledger at INTENT_DATABASE_URL. To list them: ${listCommand(flags)}`,
  );
}
