import { statSync } from 'node:fs';
import { DatabaseLost, databaseOutage } from '../database-fault.js';

/**
 * Files that must stay in place while the ledger is open. Once one is missing or replaced, every check fails until the process
 * restarts.
 */
export class FilePresence {
  readonly #identities: ReadonlyMap<string, string | undefined>;
  #goneFile: string | undefined;

  constructor(files: readonly string[]) {
    this.#identities = new Map(files.map((file) => [file, identityOf(file)]));
  }

  /** Whether a file is missing or replaced. If the check fails, the file counts as gone. */
  isGone(): boolean {
    try {
      this.require();
      return false;
    } catch {
      return true;
    }
  }

  require(): void {
    this.#goneFile ??= this.#findGoneFile();
    if (this.#goneFile === undefined) return;
    throw new DatabaseLost(
      `${this.#goneFile} was moved, deleted or replaced while the ledger was open. The ledger rejects all calls, because another ` +
        'process may have opened it. Restore the folder and restart this process',
    );
  }

  #findGoneFile(): string | undefined {
    const gone = [...this.#identities].find(
      ([file, identity]) => identity === undefined || identityOf(file) !== identity,
    );
    return gone?.[0];
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
