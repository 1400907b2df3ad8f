import { AssertionError } from 'node:assert';
import type { LedgerIntent } from '../../src/ledger/ledger.js';
import { waitForIntent } from '../../src/testing.js';

/** A router whose ledger returns these intents one after the other. */
function routerWith(...intents: (Partial<LedgerIntent> | undefined)[]) {
  const rechecked: string[] = [];
  const find = async () => (intents.length > 1 ? intents.shift() : intents[0]) as LedgerIntent | undefined;
  const recheck = async (id: string) => void rechecked.push(id);
  return { rechecked, intents: { find, recheck } };
}

test('waitForIntent rechecks once and waits for the state', async () => {
  const settled = { kind: 'payment', state: 'settled' } as const;
  const router = routerWith({ kind: 'payment', state: 'created' }, { kind: 'payment', state: 'submitted' }, settled);
  expect(await waitForIntent(router, 'an id', 'settled')).toBe(settled);
  expect(router.rechecked).toEqual(['an id']);
});

const payment = { kind: 'payment', attempts: 0 } as const;

test.each<[Partial<LedgerIntent> | undefined, RegExp]>([
  [
    { ...payment, state: 'created' },
    /^Expected intent an id to be settled within 30 ms\. It is still created\. The sequencer has not reported the payment/,
  ],
  [
    { ...payment, state: 'submitted', attempts: 2, lastError: 'No paper.' },
    /Its hook failed 2 times\. Last error: No paper\.$/,
  ],
  [{ kind: 'login', state: 'created' }, /It is a login, which becomes completed when its session starts\.$/],
  [undefined, /^Expected intent an id to be settled\. It is not in the ledger of this router\.$/],
  [{ ...payment, state: 'expired' }, /^Expected intent an id to be settled\. It is expired\.$/],
  [
    { ...payment, state: 'dead', attempts: 15, lastError: 'No.' },
    /It is dead\. Its hook failed 15 times\. Last error: No\.$/,
  ],
])('waitForIntent rejects with the state and the reason: %j', async (intent, message) => {
  const waiting = waitForIntent(routerWith(intent), 'an id', 'settled', { timeoutMs: 30 });
  await expect(waiting).rejects.toBeInstanceOf(AssertionError);
  await expect(waiting).rejects.toMatchObject({ message: expect.stringMatching(message), expected: 'settled' });
});

test('waitForIntent times out while the hook of the recheck runs', async () => {
  const { intents } = routerWith({ ...payment, state: 'submitted' });
  const router = { intents: { ...intents, recheck: () => new Promise<void>(() => undefined) } };
  await expect(waitForIntent(router, 'an id', 'settled', { timeoutMs: 30 })).rejects.toThrow(
    /It is still submitted\.$/,
  );
});

test('waitForIntent waits for the recheck of an expired intent, which may have been paid', async () => {
  const { intents } = routerWith({ ...payment, state: 'expired' });
  const settled = { ...payment, state: 'settled' } as LedgerIntent;
  let found = intents.find;
  const recheck = async () => {
    await new Promise(setImmediate);
    found = async () => settled;
  };
  expect(await waitForIntent({ intents: { find: () => found(), recheck } }, 'an id', 'settled')).toBe(settled);
});
