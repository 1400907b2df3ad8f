import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe('a hook that never resolves', () => {
  const database = useDatabase('postgres');

  const never = (): Promise<never> => new Promise(() => undefined);

  it.each<[string, PaymentHooks]>([
    ['onPaid', { onPaid: never }],
    ['verifyPayment', { verifyPayment: never }],
  ])('%s is ended by its timeout, even if garbage is collected meanwhile', async (_name, hooks) => {
    const ledger = new SettlementFixture(database, { hooks, settings: { hookTimeoutMs: 500 } });
    const id = await ledger.begin();
    const garbage = setInterval(collectGarbage, 100);
    const ended = await Promise.race([ledger.settlement.idle().then(() => true), wait(60_000, false, { ref: false })]);
    clearInterval(garbage);
    expect(ended).toBe(true);
    expect((await ledger.find(id)).lastError).toMatch(
      /^TimeoutError: \w+ timed out after \d+ ms\. Move slow work out of the hook, or raise ledger\.hookLimits\.timeoutMs\./,
    );
  });

  it('does not delay the close of the ledger, even if it is onDeadLetter', async () => {
    const hooks: PaymentHooks = { onPaid: () => Promise.reject(new Error('no')), onDeadLetter: never };
    const settings = { hookTimeoutMs: 60_000, hookAttempts: 1 };
    const ledger = new SettlementFixture(database, { hooks, settings, timing: { closeMs: 20 } });
    ledger.pay(await ledger.create());
    await database.advance(5_000);
    await ledger.settlement.round();
    expect(await Promise.race([ledger.settlement.close().then(() => true), wait(60_000, false, { ref: false })])).toBe(
      true,
    );
  });
});
