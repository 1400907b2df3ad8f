import { parseArgs } from 'node:util';
import { migrate as migrateTables } from '../ledger/migrate.js';
import { placeOf, withLedger } from './open-ledger.js';
import type { Command } from './run.js';

/** `migrate`: makes the tables of the ledger, or brings them up to date. */
export const migrate: Command = async (args, terminal) => {
  parseArgs({ args, options: {} });
  return withLedger(async (db, settings) => {
    const ran = await migrateTables(db);
    for (const { version, name } of ran) terminal.out(`migrated   ${version} ${name}`);
    const state = ran.length > 0 ? 'is up to date now' : 'was up to date';
    terminal.out(`The ledger in ${placeOf(settings)} ${state}.`);
    return 0;
  });
};
