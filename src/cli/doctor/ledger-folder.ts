import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { isFolderLocked } from '../../ledger/folder-lock.js';
import type { Check } from './check.js';
import { type Finding, fault, ok, skipped, warning } from './finding.js';

/** Of statfs(2): file systems whose locks or writes other machines take part in. */
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1397113167: 'AFS',
  12805120: 'Ceph',
};

/** The ledger in a folder: writable, on a disk of this machine, and free. It is not opened, which would write to it. */
export const ledgerFolder: Check = async ({ settings, world, siteUrl }) => {
  const { database } = settings;
  if (database?.kind !== 'embedded') return [skipped('not used')];
  const folder = path.resolve(database.folder);
  const nearest = nearestThatIs(folder);
  const found: Finding[] = [];
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    found.push(fault(`This user may not write to ${nearest}.`, `chown -R <the user of the site> ${nearest}`));
  const network = networkFileSystems[await world.fileSystemOf(nearest)];
  if (network) {
    const mend = 'Put the folder on a disk of this machine, or use INTENT_DATABASE_URL=postgres://...';
    found.push(fault(`${folder} is on a network file system (${network}), where it is neither locked nor safe.`, mend));
  }
  const isLocked = nearest === folder && isWritable && (await isFolderLocked(folder));
  if (isLocked && !siteUrl) {
    const mend = 'Where that is the site, all is well; name it with --url. To start another, end it first.';
    found.push(warning(`${folder} is open in another process, and one alone can have it open.`, mend));
  }
  if (found.length > 0) return found;
  return [
    ok(
      existsSync(path.join(folder, 'data'))
        ? `${folder}${isLocked ? ', open in the site' : ''}`
        : `${folder} will be made`,
    ),
  ];
};

/** The folder itself, or that in which it would be made. */
function nearestThatIs(folder: string): string {
  return existsSync(folder) ? folder : nearestThatIs(path.dirname(folder));
}
