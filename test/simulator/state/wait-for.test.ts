import { AssertionError } from 'node:assert';
import { closeAll, created, payment, start } from '../fixture.js';

afterEach(closeAll);

/** Longer than the default of five seconds, for a busy machine. */
const patient = { timeoutMs: 60_000 };

test('waitFor resolves at each action of a wallet, in order', async () => {
  const simulator = await start();
  const { id, clientSecret } = await payment().then(async (intent) => {
    const existing = simulator.waitFor(intent.id, 'created', patient);
    await created(simulator.url, Promise.resolve(intent));
    await existing;
    return intent;
  });
  const reached: string[] = [];
  const milestones = (['scanned', 'declined', 'submitted'] as const).map((milestone) =>
    simulator.waitFor(id, milestone, patient).then(() => reached.push(milestone)),
  );
  await simulator.wallet('Ada').scan(clientSecret);
  await milestones[0];
  expect(reached).toEqual(['scanned']);
  await simulator.wallet('Ada').decline(clientSecret);
  await milestones[1];
  await simulator.wallet('Ada').pay(clientSecret);
  await Promise.all(milestones);
  expect(reached).toEqual(['scanned', 'declined', 'submitted']);
});

test('waitFor rejects after its timeout with the milestones that were reached', async () => {
  const simulator = await start();
  const { id, clientSecret } = await created(simulator.url, payment());
  await simulator.wallet('Ada').scan(clientSecret);
  const waiting = simulator.waitFor(id, 'submitted', { timeoutMs: 30 });
  await expect(waiting).rejects.toBeInstanceOf(AssertionError);
  await expect(waiting).rejects.toMatchObject({
    message: `The intent ${id} did not reach submitted within 30 ms. It reached: created, scanned.`,
    expected: 'submitted',
  });
});
