import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { jest } from '@jest/globals';
import type { PaymentHooks } from '../../src/ledger/payment.js';
import { openTestDatabase, type TestDatabase } from '../support/databases.js';
import { SettlementFixture } from './settlement-fixture.js';

jest.setTimeout(30_000);

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

describe('a hook that never answers', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  }, 30_000);
  beforeEach(() => database.db.query('truncate express_intents.intents, express_intents.history'));

  const never = (): Promise<never> => new Promise(() => undefined);

  it.each<[string, PaymentHooks]>([
    ['onPaid', { onPaid: never }],
    ['verifyPayment', { verifyPayment: never }],
  ])('is ended by its time-out whatever memory is freed meanwhile: %s', async (_name, hooks) => {
    const ledger = new SettlementFixture(database, { hooks, settings: { hookTimeoutMs: 500 } });
    const id = await ledger.create();
    ledger.pay(id);
    await database.advance(5_000);
    await ledger.settlement.round();
    const garbage = setInterval(collectGarbage, 50);
    const ended = await Promise.race([ledger.settlement.idle().then(() => true), wait(5_000, false)]);
    clearInterval(garbage);
    expect(ended).toBe(true);
    expect((await ledger.find(id)).lastError).toMatch(/^TimeoutError/);
  });
});
