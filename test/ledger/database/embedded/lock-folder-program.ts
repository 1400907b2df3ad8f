import { lockFolder } from '../../../../src/ledger/database/embedded/folder-lock.js';

// Locks a folder, reports the result, and holds the lock until it receives input.
const [, , folder = ''] = process.argv;
try {
  const lock = await lockFolder(folder);
  console.log(JSON.stringify('held'));
  process.stdin.once('data', () => lock.release());
} catch (error) {
  console.log(JSON.stringify((error as { code: string }).code));
}
