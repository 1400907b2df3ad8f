import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { forgetHook } from '../../../src/ledger/settlement/required-hooks.js';
import { kinds } from '../../support/databases/databases.js';
import { FakeSequencer, SettlementFixture, useDatabase } from './settlement-fixture.js';

describe.each(kinds)('a process that lacks a hook of its site, on %s', (kind) => {
  const database = useDatabase(kind);
  let sequencer: FakeSequencer;
  beforeEach(async () => {
    sequencer = new FakeSequencer();
  });

  const startFixture = (hooks: PaymentHooks): SettlementFixture =>
    new SettlementFixture(database, { hooks, sequencer });

  /** A process that has recorded its hooks. */
  async function run(hooks: PaymentHooks): Promise<SettlementFixture> {
    const fixture = startFixture(hooks);
    await fixture.settlement.checkHooks();
    return fixture;
  }

  const fulfilled: string[] = [];
  const onPaid: PaymentHooks['onPaid'] = ({ id }) => void fulfilled.push(id);

  it('settles no payment, and the site calls its hook later', async () => {
    await run({ onPaid });
    const job = startFixture({});
    const id = await job.create();
    job.pay(id);
    await job.after(60_000);
    expect((await job.find(id)).state).toBe('created');
    const site = startFixture({ onPaid });
    await site.work();
    expect([(await site.find(id)).state, fulfilled]).toEqual(['settled', [id]]);
  });

  it('settles no payment that is rechecked', async () => {
    await run({ onPaid });
    const job = startFixture({});
    const id = await job.create();
    job.pay(id);
    const rechecked = job.settlement.recheck(id);
    expect(await job.settlement.round()).toBe(0);
    await job.settlement.close();
    await rechecked;
    expect((await job.find(id)).state).toBe('created');
  });

  it('settles no payment from the moment another process has the hook', async () => {
    const old = startFixture({ onPaid });
    const [first, second] = [await old.create(), await old.create()];
    old.pay(first);
    await old.after(60_000);
    await run({ onPaid, verifyPayment: () => true });
    old.pay(second);
    await old.after(60_000);
    expect([(await old.find(first)).state, (await old.find(second)).state]).toEqual(['settled', 'created']);
  });

  it('logs which hook it lacks, and the command that lets it settle again', async () => {
    await run({ onPaid, onReversed: () => undefined });
    const job = await run({ onPaid });
    expect(job.log.lines).toHaveLength(1);
    expect(job.log.text).toContain('the ledger has recorded hooks that this process lacks: onReversed.');
    expect(job.log.text).toContain(
      'npx express-intents ledger forget-hook <hook>`; with a ledger in a folder, stop the site first.',
    );
    expect((await run({ onPaid, onReversed: () => undefined })).log.lines).toEqual([]);
  });

  it('settles payments again when the hook is forgotten', async () => {
    await run({ onPaid });
    expect([await forgetHook(database.db, 'onPaid'), await forgetHook(database.db, 'onPaid')]).toEqual([true, false]);
    const job = startFixture({});
    const id = await job.create();
    job.pay(id);
    await job.after(60_000);
    expect((await job.find(id)).state).toBe('settled');
  });
});
