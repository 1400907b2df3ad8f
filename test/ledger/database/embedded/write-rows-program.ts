import { openEmbedded } from '../../../../src/ledger/database/embedded/embedded.js';

// Opens a ledger in a folder and commits one transaction after the other, each with two rows. It reports the open and each
// commit, and leaves the last transaction open.
const [, , folder = '', count = '0'] = process.argv;
const db = await openEmbedded({ folder });
console.log(JSON.stringify('open'));
await db.query('create table if not exists public.t (number integer, half integer)');
for (let number = 1; number <= Number(count); number += 1) {
  await db.transaction(async (tx) => {
    await tx.query('insert into public.t values ($1, 1)', [number]);
    await tx.query('insert into public.t values ($1, 2)', [number]);
  });
  console.log(JSON.stringify(number));
}
if (count !== '0') {
  await db.transaction(async (tx) => {
    await tx.query('insert into public.t values (-1, 1)');
    console.log(JSON.stringify('in a transaction'));
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  });
}
