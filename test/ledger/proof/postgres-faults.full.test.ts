import { seededRandom } from '../../wire/seeded-random.js';
import { expectFaultsSurvived, type FaultKind, faultKinds } from './postgres-workers.js';

// Three processes with one ledger in Postgres are killed, put to sleep for twice their lease and cut off, while customers
// buy. FAULTS=1000 for more of it, SEED for the same plan again.

const faults = Number(process.env.FAULTS ?? 50);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(
  `three processes survive ${faults} faults: nothing is lost or done twice (SEED=${seed})`,
  async () => {
    const plan = Array.from({ length: faults }, (_, index) => faultKinds[index % faultKinds.length] as FaultKind);
    await expectFaultsSurvived(plan, seededRandom(seed));
  },
  120_000 + faults * 6_000,
);
