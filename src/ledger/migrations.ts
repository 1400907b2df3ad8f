import { intentsMigration } from './migrations/001-intents.js';
import { finishedIndex } from './migrations/002-finished.js';
import { wantedIndex } from './migrations/003-wanted.js';

/**
 * One change of the tables or one index. What was published never changes, and what comes next leaves older versions of the
 * program working: docs/architecture.md has the rules.
 */
export type Migration = {
  /** 1, 2, 3, ... without a gap. */
  readonly version: number;
  readonly name: string;
} & (
  | {
      /** What the program needs. It is run in a transaction, before a site starts, and must be quick whatever the tables hold. */
      readonly sql: string;
      readonly index?: undefined;
    }
  | {
      /** What makes it faster, and may take hours. */
      readonly index: MigrationIndex;
      readonly sql?: undefined;
    }
);

export interface MigrationIndex {
  /** In the schema of the ledger; it tells whether the index is there. */
  readonly name: string;
  /** The table, the columns and the condition, as they stand behind `on`. */
  readonly on: string;
}

export const migrations: readonly Migration[] = [
  { version: 1, name: 'intents', sql: intentsMigration },
  { version: 2, name: 'finished', index: finishedIndex },
  { version: 3, name: 'wanted', index: wantedIndex },
];
