import { seededRandom } from '../../wire/seeded-random.js';
import { expectFaultsSurvived, faultKinds } from './postgres-workers.js';

// The short form of postgres-faults.full.test.ts: each fault once. SEED for the same plan again.

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`three processes survive each fault once: nothing is lost or done twice (SEED=${seed})`, async () => {
  await expectFaultsSurvived([...faultKinds], seededRandom(seed));
}, 300_000);
