import { appendFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Environment } from '../config/config-options.js';
import { IntentError } from '../errors.js';
import type { Database } from '../ledger/database/database.js';
import { pruneIntents } from '../ledger/intents/prune-intents.js';
import { requireMigrated } from '../ledger/migrations/migrate.js';
import type { Cli } from './cli.js';
import { addEnvFile, type EnvironmentOptions, readEnvironment } from './environment.js';
import { addExamples } from './examples.js';
import { countOf } from './intent-lines.js';
import type { Terminal } from './terminal.js';

type InLedger = (env: Environment, terminal: Terminal, use: (db: Database) => Promise<number>) => Promise<number>;

interface PruneFlags extends EnvironmentOptions {
  readonly olderThanDays: string;
  readonly archive?: string;
  readonly includeResources?: boolean;
}

/** `ledger prune`: deletes what is old, and with which nothing is left to be done. */
export function addPrune(ledger: Command, { terminal, action }: Cli, inLedger: InLedger): void {
  const command = ledger
    .command('prune')
    .description('Deletes old intents with which nothing is left to be done; never what is open or dead.')
    .requiredOption('--older-than-days <number>', 'those that were created before so many days')
    .option('--archive <file>', 'append them to a file as lines of JSON, before they go')
    .option('--include-resources', 'also payments for a resource, whose browsers then have to pay again')
    .action(action((flags: PruneFlags) => prune(flags, terminal, inLedger)));
  addEnvFile(command);
  addExamples(command, [['ledger prune --older-than-days 400 --archive old.jsonl', 'what is older than 400 days']]);
}

function prune(flags: PruneFlags, terminal: Terminal, inLedger: InLedger): Promise<number> {
  const { olderThanDays, archive: file, includeResources } = flags;
  const days = Number(olderThanDays);
  if (!(days >= 1 && days < 100_000)) {
    throw new IntentError('invalid_request', '--older-than-days takes a number of days, at least 1.');
  }
  return inLedger(readEnvironment(flags), terminal, async (db) => {
    await requireMigrated(db);
    terminal.progress('pruning');
    const count = await pruneIntents(db, {
      olderThan: new Date(Date.now() - days * 24 * 3_600_000),
      includeResources,
      archive:
        file === undefined
          ? undefined
          : (intents) =>
              // Who has paid what is nobody else's business.
              appendFile(file, intents.map((intent) => `${JSON.stringify(intent)}\n`).join(''), { mode: 0o600 }),
    });
    terminal.out(`${countOf(count)} deleted${file === undefined ? '' : `, and kept in ${file}`}.`);
    return 0;
  });
}
