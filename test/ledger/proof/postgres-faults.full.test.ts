import { seededRandom } from '../../wire/seeded-random.js';
import { expectFaultsSurvived, type FaultKind, faultKinds } from './postgres-workers.js';

// Three processes with one ledger in Postgres are killed, stopped for twice their lease and disconnected while customers
// buy. FAULTS=1000 runs more faults, SEED repeats a plan.

const faults = Number(process.env.FAULTS ?? 50);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(
  `three processes with one ledger that have ${faults} faults lose and double nothing (SEED=${seed})`,
  async () => {
    const plan = Array.from({ length: faults }, (_, index) => faultKinds[index % faultKinds.length] as FaultKind);
    await expectFaultsSurvived(plan, seededRandom(seed));
  },
  120_000 + faults * 6_000,
);
