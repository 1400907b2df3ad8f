import type { Command } from 'commander';
import { migrate as migrateLedger } from '../ledger/migrations/migrate.js';
import type { Cli } from './cli.js';
import { addEnvFile, type EnvironmentOptions, readEnvironment } from './environment.js';
import { addExamples } from './examples.js';
import { placeOf, withLedger } from './open-ledger.js';

/** `migrate`: makes the tables of the ledger, or brings them up to date. */
export function addMigrate(program: Command, { terminal, action }: Cli): void {
  const command = program
    .command('migrate')
    .summary('make the tables of the ledger, or bring them up to date')
    .description(
      'Makes the tables of the ledger that INTENT_DATABASE_URL names, or brings them up to date. A site does so itself at ' +
        'its start, unless it has `migrate: false`.',
    )
    .action(
      action((options: EnvironmentOptions) => {
        terminal.progress('opening the ledger');
        return withLedger(readEnvironment(options), async (db, settings) => {
          terminal.progress('migrating');
          const ran = await migrateLedger(db);
          for (const { version, name } of ran) terminal.out(`migrated   ${version} ${name}`);
          const state = ran.length > 0 ? 'is up to date now' : 'was up to date';
          terminal.out(`The ledger in ${placeOf(settings)} ${state}.`);
          return 0;
        });
      }),
    );
  addEnvFile(command);
  addExamples(command, [['migrate --env-file .env', 'before a new version of the site starts']]);
}
