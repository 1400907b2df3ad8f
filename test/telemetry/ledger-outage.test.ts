import { IntentError } from '../../src/errors.js';
import { Settlement } from '../../src/ledger/settlement/settlement.js';
import { defaultTiming } from '../../src/ledger/settlement/settlement-timing.js';
import type { RouterEventPayload } from '../../src/telemetry/router-event.js';
import { eventually } from '../support/eventually.js';
import { LogRecorder } from '../support/sites/site.js';

const settings = {
  ...{ settleDelayMs: 0, watchMs: 1_000, reversalWatchMs: 0 },
  ...{ settlementConcurrency: 6, hookAttempts: 1, hookTimeoutMs: 1_000, lateAfterMs: 1_000 },
};

test('an outage emits one event at its start and one at its end, however long it lasts', async () => {
  const emitted: RouterEventPayload[] = [];
  let asked = 0;
  let isDown = true;
  const query = async () => {
    asked += 1;
    if (isDown) throw new IntentError('ledger_unavailable');
    return { rows: [], rowCount: 0 };
  };
  const settlement = new Settlement({
    db: {
      isShared: true,
      query,
      transaction: () => Promise.reject(new Error('There is none.')),
      close: async () => undefined,
    },
    hooks: {},
    fetchStatus: async () => ({ exists: true, intentSubmitted: false }),
    fetchUserId: undefined,
    settings,
    timing: { ...defaultTiming, roundMs: 1 },
    logger: new LogRecorder(),
    observer: { emit: (event) => void emitted.push(event) },
  });
  settlement.start();
  await eventually(() => asked >= 3);
  expect(emitted).toEqual([{ type: 'ledger_unavailable', code: 'ledger_unavailable' }]);
  isDown = false;
  await eventually(() => emitted.length === 2);
  const rounds = asked;
  await eventually(() => asked > rounds + 2);
  expect(emitted.slice(1)).toEqual([{ type: 'ledger_recovered' }]);
  await settlement.close();
});
