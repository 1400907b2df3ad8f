import { AssertionError } from 'node:assert';
import { closeAll, created, payment, start } from '../fixture.js';

afterEach(closeAll);

/** Longer than the default of five seconds, for a busy machine. */
const patient = { timeoutMs: 60_000 };

test('waitFor resolves at each action of a wallet, in order', async () => {
  const sequencer = await start();
  const { id, clientSecret } = await payment().then(async (intent) => {
    const existing = sequencer.waitFor(intent.id, 'created', patient);
    await created(sequencer.url, Promise.resolve(intent));
    await existing;
    return intent;
  });
  const reached: string[] = [];
  const milestones = (['scanned', 'declined', 'submitted'] as const).map((milestone) =>
    sequencer.waitFor(id, milestone, patient).then(() => reached.push(milestone)),
  );
  await sequencer.wallet('Ada').scan(clientSecret);
  await milestones[0];
  expect(reached).toEqual(['scanned']);
  await sequencer.wallet('Ada').decline(clientSecret);
  await milestones[1];
  await sequencer.wallet('Ada').pay(clientSecret);
  await Promise.all(milestones);
  expect(reached).toEqual(['scanned', 'declined', 'submitted']);
});

test('waitFor rejects after its timeout with the milestones that were reached', async () => {
  const sequencer = await start();
  const { id, clientSecret } = await created(sequencer.url, payment());
  await sequencer.wallet('Ada').scan(clientSecret);
  const waiting = sequencer.waitFor(id, 'submitted', { timeoutMs: 30 });
  await expect(waiting).rejects.toBeInstanceOf(AssertionError);
  await expect(waiting).rejects.toMatchObject({
    message: `The intent ${id} did not reach submitted within 30 ms. It reached: created, scanned.`,
    expected: 'submitted',
  });
});
