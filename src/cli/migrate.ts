import type { Command } from 'commander';
import { migrate } from '../ledger/migrations/migrate.js';
import { addEnvFile, addExamples, type CommandContext, type EnvironmentOptions, readEnvironment } from './command.js';
import { describeLocation, withLedger } from './open-ledger.js';

export function addMigrate(program: Command, { terminal, action }: CommandContext): void {
  const command = program
    .command('migrate')
    .summary('create or update the tables of the ledger')
    .description(
      'Creates or updates the tables of the ledger at INTENT_DATABASE_URL. A site does the same at startup, unless it has ' +
        '`ledger: { migrate: false }`.',
    )
    .action(
      action((options: EnvironmentOptions) => {
        terminal.progress('opening the ledger');
        return withLedger(readEnvironment(options), async (db, settings) => {
          terminal.progress('migrating');
          const ran = await migrate(db);
          for (const { version, name } of ran) terminal.out(`applied migration ${version} (${name})`);
          const state = ran.length > 0 ? 'is up to date' : 'was already up to date';
          terminal.out(`The ledger in ${describeLocation(settings)} ${state}.`);
          return 0;
        });
      }),
    );
  addEnvFile(command);
  addExamples(command, [['migrate --env-file .env', 'before a new version of the site starts']]);
}
