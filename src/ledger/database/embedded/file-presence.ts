import { statSync } from 'node:fs';
import { DatabaseLost, databaseOutage } from '../database-fault.js';

/**
 * Files that must stay in place while the ledger is open. Once one is missing or replaced, every check fails until the process
 * restarts.
 */
export class FilePresence {
  readonly #identities: ReadonlyMap<string, string | undefined>;
  #isGone = false;

  constructor(files: readonly string[]) {
    this.#identities = new Map(files.map((file) => [file, identityOf(file)]));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  require(): void {
    for (const [file, identity] of this.#identities) {
      if (!this.#isGone && identity !== undefined && identityOf(file) === identity) continue;
      this.#isGone = true;
      throw new DatabaseLost(
        `${file} was moved or deleted while the ledger was open. The ledger rejects all calls, because another process ` +
          'may have opened it. Restore the folder and restart this process',
      );
    }
  }
}

/** Device and inode of a file; undefined if it does not exist. @throws {DatabaseOutage} if that cannot be read */
function identityOf(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}:${stats.ino}`;
  } catch (error) {
    throw databaseOutage('The folder of the ledger cannot be read', error);
  }
}
