import { parseArgs } from 'node:util';
import { IntentError } from '../errors.js';
import { parseIntentId } from '../keys/base58.js';
import type { Database } from '../ledger/database.js';
import { findIntent, historyOf, listIntents, retryIntent } from '../ledger/find-intents.js';
import type { IntentState } from '../ledger/intent-state.js';
import type { LedgerIntent, ListOptions } from '../ledger/ledger.js';
import { parseListOptions } from '../ledger/list-options.js';
import { requireMigrated } from '../ledger/migrate.js';
import { linesOfIntent, linesOfList, printableJson } from './intent-lines.js';
import { withLedgerThatIs } from './open-ledger.js';
import type { Command } from './run.js';

/** `ledger list`, `ledger show` and `ledger retry`: what is in the ledger, for a person who looks after it. */
export const ledger: Command = async ([name = '', ...args], terminal) => {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command(args, terminal);
  throw new IntentError('invalid_request', `Say what to do: ledger ${Object.keys(commands).join(', ledger ')}.`);
};

const list: Command = async (args, terminal) => {
  const { values } = parseArgs({
    args,
    options: {
      state: { type: 'string' },
      limit: { type: 'string', default: '20' },
      after: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { state, limit, after, json } = values;
  const options: ListOptions = { state: state as IntentState | undefined, limit: Number(limit), after };
  // Whether there is such a state, too, is told before anything is opened.
  parseListOptions(options);
  return withLedgerThatIs(async (db) => {
    await requireMigrated(db);
    const page = await listIntents(db, options);
    if (json) {
      terminal.out(printableJson(page));
      return 0;
    }
    if (page.intents.length === 0) terminal.out(state ? `There is none that is ${state}.` : 'There is none.');
    else for (const line of linesOfList(page.intents)) terminal.out(line);
    if (page.next) {
      const same = state ? ` --state ${state}` : '';
      terminal.out(`\nMore: npx express-intents ledger list${same} --limit ${limit} --after ${page.next}`);
    }
    return 0;
  });
};

const show: Command = async (args, terminal) => {
  const { values, positionals } = parseArgs({
    args,
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const id = oneId('show', positionals);
  return withLedgerThatIs(async (db) => {
    const intent = await requireIntent(db, id);
    const history = await historyOf(db, id);
    if (values.json) {
      terminal.out(printableJson({ intent, history }));
      return 0;
    }
    for (const line of linesOfIntent(intent, history)) terminal.out(line);
    if (canBeRetried.has(intent.state)) terminal.out(`\nTo take it up again: npx express-intents ledger retry ${id}`);
    return 0;
  });
};

const canBeRetried: ReadonlySet<IntentState> = new Set(['dead', 'expired', 'reversed']);

const retry: Command = async (args, terminal) => {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const id = oneId('retry', positionals);
  return withLedgerThatIs(async (db, { watchMs }) => {
    const { state, deadHook } = await requireIntent(db, id);
    if (!(await retryIntent(db, id, watchMs))) {
      terminal.error(`There is nothing to take up again: the intent is ${state}.`);
      return 1;
    }
    const what = state === 'dead' ? `${deadHook ?? 'Its hook'} is called again` : 'It is watched again';
    terminal.out(`${what}${db.isShared ? ' by a site that runs, in a moment' : ' once the site runs'}.`);
    return 0;
  });
};

const commands: Readonly<Record<string, Command>> = { list, show, retry };

/** @throws {IntentError} `invalid_request`, `invalid_id` */
function oneId(name: string, positionals: readonly string[]): string {
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) {
    throw new IntentError('invalid_request', `Name one intent: ledger ${name} <id>.`);
  }
  parseIntentId(id);
  return id;
}

async function requireIntent(db: Database, id: string): Promise<LedgerIntent> {
  await requireMigrated(db);
  const intent = await findIntent(db, id);
  if (!intent) throw new IntentError('intent_not_found', `There is no intent ${id} in this ledger.`);
  return intent;
}
