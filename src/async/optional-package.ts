import { createRequire } from 'node:module';
import { ConfigError } from '../errors.js';

/** What a ledger is kept in; a site installs the one that it uses. */
export type DatabasePackage = 'pg' | '@electric-sql/pglite';

/** Lets pass where the package can be loaded, without loading it. @throws {ConfigError} with how to install it */
export function requirePackage(name: DatabasePackage): void {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch {
    const ledger = name === 'pg' ? 'A ledger in Postgres' : 'A ledger in a folder';
    const problem = `${ledger} needs this package, and it is missing.`;
    throw new ConfigError([{ setting: name, problem, mend: `npm install ${name}` }]);
  }
}
