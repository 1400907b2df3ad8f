import { intentsMigration } from './001-intents.js';

/**
 * One change of the tables. A published migration never changes, and the version before goes on working with the changed tables:
 * docs/architecture.md has the rules.
 */
export interface Migration {
  /** 1, 2, 3, ... without a gap. */
  readonly version: number;
  readonly name: string;
  /** It is run in a transaction, before a site starts, and must be quick whatever the tables hold. */
  readonly sql: string;
}

export const migrations: readonly Migration[] = [{ version: 1, name: 'intents', sql: intentsMigration }];
