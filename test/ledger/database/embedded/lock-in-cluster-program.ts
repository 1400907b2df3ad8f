import cluster from 'node:cluster';
import { lockFolder } from '../../../../src/ledger/database/embedded/folder-lock.js';

// A worker of a cluster locks the folder, and the primary reports its process id.
const [, , folder = ''] = process.argv;
if (cluster.isPrimary) {
  cluster.fork().on('message', (pid) => console.log(JSON.stringify(pid)));
} else {
  await lockFolder(folder);
  process.send?.(process.pid);
}
