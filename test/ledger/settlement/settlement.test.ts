import { SequencerError } from '../../../src/errors.js';
import type { Payment, PaymentHookContext, PaymentHooks } from '../../../src/ledger/payment.js';
import { kinds } from '../../support/databases/databases.js';
import { holdTimeouts } from '../../support/timeouts.js';
import {
  dayMs,
  hourMs,
  minuteMs,
  SettlementFixture,
  type SettlementOptions,
  start,
  useDatabase,
} from './settlement-fixture.js';

describe.each(kinds)('settlement on %s', (kind) => {
  const database = useDatabase(kind);
  const fixture = (options?: SettlementOptions): SettlementFixture => new SettlementFixture(database, options);

  const writeEffect = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
    await tx.query('insert into effects values ($1)', [id]);
  };
  const effects = async (): Promise<string[]> =>
    (await database.db.query<{ id: string }>('select id from effects order by id')).rows.map(({ id }) => id);

  /** Never ends, and lets the held timeout of the hook expire. */
  const hang = (expire: () => void): Promise<never> => {
    expire();
    return new Promise(() => undefined);
  };

  describe('polling', () => {
    it('settles a payment that the sequencer reports as submitted, with the recorded terms', async () => {
      const calls: [Payment, Omit<PaymentHookContext, 'tx' | 'signal'>][] = [];
      const onPaid = (payment: Payment, { attempt, late }: PaymentHookContext): void =>
        void calls.push([payment, { attempt, late }]);
      const ledger = fixture({ hooks: { onPaid } });
      const id = await ledger.create({ metadata: { order: 42 } });
      await ledger.after(5_000);
      expect(calls).toEqual([]);
      ledger.pay(id);
      await ledger.after(5_000);
      expect(calls).toEqual([
        [
          {
            id,
            amount: '4.50',
            currency: 'usd',
            destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
            metadata: { order: 42 },
            resource: undefined,
            userId: undefined,
            createdAt: new Date(start),
            submittedAt: new Date(Date.parse(start) + 10_000),
          },
          { attempt: 1, late: false },
        ],
      ]);
      expect(await ledger.path(id)).toBe('created > submitted > settled');
      await ledger.after(hourMs);
      expect(calls).toHaveLength(1);
    });

    it('starts often, slows down to daily for 30 days, and ends with one last poll', async () => {
      const ledger = fixture();
      const id = await ledger.create();
      const callsDuring = async (ms: number, steps: number): Promise<number> => {
        const before = ledger.statusCalls.get(id) ?? 0;
        for (let step = 0; step < steps; step += 1) await ledger.after(ms / steps);
        return (ledger.statusCalls.get(id) ?? 0) - before;
      };
      const [firstMinute, firstHour, secondDay] = [
        await callsDuring(minuteMs, 40),
        await callsDuring(59 * minuteMs, 40),
        (await callsDuring(dayMs, 24)) && (await callsDuring(dayMs, 24)),
      ];
      expect(firstMinute).toBeGreaterThanOrEqual(6);
      expect(firstMinute).toBeLessThanOrEqual(16);
      expect(firstHour).toBeGreaterThanOrEqual(10);
      expect(firstHour).toBeLessThanOrEqual(24);
      expect(secondDay).toBeGreaterThanOrEqual(2);
      expect(secondDay).toBeLessThanOrEqual(5);
      await callsDuring(8 * dayMs, 16);
      expect(await callsDuring(10 * dayMs, 20)).toBeGreaterThanOrEqual(6);
      await ledger.after(10 * dayMs);
      await ledger.after(2 * dayMs);
      expect(await ledger.path(id)).toBe('created > expired');
      const total = ledger.statusCalls.get(id) ?? 0;
      expect(total).toBeLessThan(120);
      await ledger.after(10 * dayMs);
      expect(ledger.statusCalls.get(id)).toBe(total + 1);
    });

    it('settles a payment made after the page has expired, with late: true', async () => {
      const late: boolean[] = [];
      const ledger = fixture({ hooks: { onPaid: (_payment, context) => void late.push(context.late) } });
      const id = await ledger.create();
      for (let hour = 0; hour < 30; hour += 1) await ledger.after(hourMs);
      expect((await ledger.find(id)).state).toBe('created');
      ledger.pay(id);
      for (let hour = 0; hour < 12; hour += 1) await ledger.after(hourMs);
      expect(late).toEqual([true]);
    });

    it('settles a payment made just before an outage that outlasts the watch', async () => {
      const ledger = fixture();
      const id = await ledger.create();
      ledger.pay(id);
      await ledger.after(40 * dayMs);
      expect((await ledger.find(id)).state).toBe('settled');
    });

    it('continues while the sequencer does not answer, and records the error', async () => {
      const ledger = fixture();
      const id = await ledger.create();
      ledger.setStatus(id, new SequencerError('sequencer_unreachable', 'down'));
      for (let second = 0; second < 60; second += 5) await ledger.after(5_000);
      expect(await ledger.find(id)).toMatchObject({ state: 'created', lastError: 'sequencer_unreachable' });
      ledger.pay(id);
      await ledger.after(minuteMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', lastError: undefined });
    });

    it('never treats a scan, a decline or an unknown intent as a payment', async () => {
      const ledger = fixture({ hooks: { onPaid: writeEffect } });
      const id = await ledger.create();
      ledger.setStatus(id, { exists: false, intentSubmitted: false });
      await ledger.after(minuteMs);
      await ledger.after(hourMs);
      const lastError = expect.stringContaining('The sequencer no longer knows the intent.');
      expect(await ledger.find(id)).toMatchObject({ state: 'created', lastError });
      expect(await effects()).toEqual([]);
    });

    it('becomes a dead letter when the sequencer does not know a submitted payment again, with that reason', async () => {
      const ledger = fixture({ settings: { settleDelayMs: hourMs }, hooks: { onPaid: writeEffect } });
      const id = await ledger.buy();
      ledger.setStatus(id, { exists: false, intentSubmitted: false });
      for (let day = 0; day < 40; day += 1) await ledger.after(dayMs);
      const lastError = expect.stringContaining('The sequencer no longer knows the intent.');
      expect(await ledger.find(id)).toMatchObject({ state: 'dead', lastError });
      const lines = ledger.log.text.split('\n').filter((line) => line.includes(id));
      expect(lines.at(-1)).toContain(
        `payment ${id} is a dead letter: the sequencer no longer knows it, and \`ledger.watch.unpaidMs\` has passed.`,
      );
      // The dead letter is not reported twice.
      expect(lines.filter((line) => line.includes('no longer knows it. It is polled again'))).toHaveLength(
        lines.length - 1,
      );
    });
  });

  describe('a requested recheck', () => {
    it('is no proof of payment: the sequencer is polled all the same', async () => {
      const ledger = fixture({ hooks: { onPaid: writeEffect } });
      const id = await ledger.create();
      const rechecked = ledger.settlement.recheck(id);
      await ledger.work();
      await rechecked;
      expect(ledger.statusCalls.get(id)).toBe(1);
      expect(await effects()).toEqual([]);
    });

    it('ignores a login, even one that the sequencer reports as submitted', async () => {
      const ledger = fixture({ hooks: { onPaid: writeEffect } });
      const id = await ledger.createLogin();
      ledger.pay(id);
      await ledger.after(5_000);
      void ledger.settlement.recheck(id);
      await ledger.work();
      expect([ledger.statusCalls.size, await effects()]).toEqual([0, []]);
      expect(await ledger.find(id)).toMatchObject({ kind: 'login', state: 'created', dueAt: undefined });
      await ledger.settlement.close();
    });
  });

  describe('a hook', () => {
    it('whose transaction commits has its effect once, however often it failed after writing', async () => {
      let calls = 0;
      const attempts: number[] = [];
      const onPaid = async (payment: Payment, context: PaymentHookContext): Promise<void> => {
        calls += 1;
        attempts.push(context.attempt);
        await writeEffect(payment, context);
        if (calls < 3) throw new Error(`the printer is on fire (${calls})`);
      };
      const ledger = fixture({ hooks: { onPaid } });
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({
        state: 'submitted',
        attempts: 1,
        lastError: 'Error: the printer is on fire (1)',
      });
      expect(await effects()).toEqual([]);
      await ledger.after(10_000);
      await ledger.after(10_000);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', lastError: undefined });
      expect(attempts).toEqual([1, 2, 3]);
      expect(await effects()).toEqual([id]);
    });

    it('that fails too often leaves a dead letter, which is reported once, listed, and can be retried', async () => {
      let isFixed = false;
      const reported: unknown[] = [];
      const ledger = fixture({
        hooks: {
          onPaid: async (payment, context) => {
            if (!isFixed) throw new TypeError('no such table: orders');
            await writeEffect(payment, context);
          },
          onDeadLetter: ({ id }, { hook, attempts, error }) => void reported.push([id, hook, attempts, String(error)]),
        },
      });
      const id = await ledger.create();
      ledger.pay(id);
      for (let step = 0; step < 6; step += 1) await ledger.after(minuteMs);
      expect(reported).toEqual([[id, 'onPaid', 3, 'TypeError: no such table: orders']]);
      expect(await ledger.find(id)).toMatchObject({
        state: 'dead',
        deadLetterHook: 'onPaid',
        attempts: 3,
        lastError: 'TypeError: no such table: orders',
        dueAt: undefined,
      });
      expect(ledger.log.text).toContain(
        `call router.intents.retry('${id}'), or run npx express-intents ledger retry ${id} (for a ledger in a folder: while the ` +
          'site is stopped).',
      );
      isFixed = true;
      expect(await ledger.retry(id)).toBe(true);
      expect(await ledger.retry(id)).toBe(false);
      await ledger.work();
      expect(await effects()).toEqual([id]);
      expect(await ledger.path(id)).toBe('created > submitted > dead > submitted > settled');
    });

    it('that swallows an error of its transaction settles nothing and writes nothing', async () => {
      const ledger = fixture({
        hooks: {
          onPaid: async (payment, context) => {
            await writeEffect(payment, context);
            await context.tx.query('insert into nowhere values (1)').catch(() => undefined);
          },
        },
      });
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
      expect(await effects()).toEqual([]);
    });

    it('that hangs is aborted by its signal after the timeout, and called again', async () => {
      const signals: AbortSignal[] = [];
      const hookTimeoutMs = 60_007;
      const expire = holdTimeouts(hookTimeoutMs);
      const ledger = fixture({
        settings: { hookTimeoutMs },
        hooks: {
          onPaid: async (payment, context) => {
            signals.push(context.signal);
            if (signals.length === 1) await hang(expire);
            await writeEffect(payment, context);
          },
        },
      });
      const id = await ledger.buy();
      expect(signals[0]?.aborted).toBe(true);
      expect(await ledger.find(id)).toMatchObject({ state: 'submitted', attempts: 1 });
      await ledger.after(2 * minuteMs);
      expect((await ledger.find(id)).state).toBe('settled');
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
      expect(await effects()).toEqual([id]);
    });

    it('that continues after its timeout writes nothing', async () => {
      let resume: () => void = () => undefined;
      let late: Promise<unknown> = Promise.resolve();
      const ledger = fixture({
        settings: { hookTimeoutMs: 30, hookAttempts: 1 },
        hooks: {
          onPaid: (payment, context) => {
            late = new Promise<void>((resolve) => {
              resume = resolve;
            }).then(() => writeEffect(payment, context));
            return late as Promise<void>;
          },
        },
      });
      const _id = await ledger.buy();
      resume();
      await expect(late).rejects.toThrow();
      expect(await effects()).toEqual([]);
    });
  });

  describe('before settling, a payment', () => {
    it('that is reversed during the delay is not settled, and the watch continues', async () => {
      const ledger = fixture({ settings: { settleDelayMs: hourMs }, hooks: { onPaid: writeEffect } });
      const id = await ledger.buy();
      ledger.reverse(id);
      await ledger.after(hourMs);
      expect(await effects()).toEqual([]);
      ledger.pay(id);
      await ledger.after(hourMs);
      await ledger.after(2 * hourMs);
      expect(await effects()).toEqual([id]);
      expect(await ledger.path(id)).toBe('created > submitted > created > submitted > settled');
    });

    it('waits while verifyPayment returns false or fails', async () => {
      const answers = [false, new Error('the node is syncing'), true];
      const ledger = fixture({
        hooks: {
          onPaid: writeEffect,
          verifyPayment: () => {
            const answer = answers.shift() ?? true;
            if (answer instanceof Error) throw answer;
            return answer;
          },
        },
      });
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({
        state: 'submitted',
        lastError: 'Error: verifyPayment did not return true.',
      });
      await ledger.after(minuteMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'submitted', lastError: 'Error: the node is syncing' });
      expect(await effects()).toEqual([]);
      await ledger.after(hourMs);
      expect(await effects()).toEqual([id]);
    });

    it('waits and logs the fix when verifyPayment returns neither true nor false', async () => {
      const ledger = fixture({ hooks: { onPaid: writeEffect, verifyPayment: (() => undefined) as never } });
      const id = await ledger.buy();
      expect(await ledger.find(id)).toMatchObject({
        state: 'submitted',
        lastError: 'TypeError: verifyPayment returned undefined. Return true or false.',
      });
      expect(ledger.log.text).toMatch(
        new RegExp(`verifyPayment failed for payment ${id}.*[\\s\\S]*Return true or false`),
      );
      expect(await effects()).toEqual([]);
    });

    it('has the user id of the payer when it logs in, or undefined when the sequencer does not answer', async () => {
      const userIds: (string | undefined)[] = [];
      const ledger = fixture({
        hooks: { onPaid: ({ userId }) => void userIds.push(userId) },
        fetchUserId: async (id) => {
          if (id.endsWith('2')) throw new SequencerError('sequencer_timeout', 'slow');
          return 'ada';
        },
      });
      const ids = [await ledger.create({ login: true }), await ledger.create({ login: true }), await ledger.create()];
      for (const id of ids) {
        ledger.pay(id);
        void ledger.settlement.recheck(id);
        await ledger.work();
      }
      expect(userIds).toEqual(['ada', undefined, undefined]);
      expect(await Promise.all(ids.map(async (id) => (await ledger.find(id)).userId))).toEqual(userIds);
    });
  });

  describe('after settling, a payment', () => {
    it('that the sequencer reports as reversed twice calls onReversed once', async () => {
      const onReversed = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
        await tx.query('delete from effects where id = $1', [id]);
      };
      const ledger = fixture({ hooks: { onPaid: writeEffect, onReversed } });
      const id = await ledger.buy();
      ledger.reverse(id);
      await ledger.after(2 * minuteMs);
      expect(await effects()).toEqual([id]);
      await ledger.after(minuteMs);
      expect(await effects()).toEqual([]);
      expect(await ledger.find(id)).toMatchObject({ state: 'reversed' });
      expect(ledger.log.text).toContain(`payment ${id} was reversed after it had settled`);
    });

    it('that is reversed and paid again settles again', async () => {
      const calls: string[] = [];
      const hooks = { onPaid: () => void calls.push('paid'), onReversed: () => void calls.push('reversed') };
      const ledger = fixture({ hooks });
      const id = await ledger.buy();
      ledger.reverse(id);
      for (let step = 0; step < 3; step += 1) await ledger.after(minuteMs);
      for (let day = 0; day < 3; day += 1) await ledger.after(24 * hourMs);
      expect(calls).toEqual(['paid', 'reversed']);
      ledger.pay(id);
      await ledger.after(24 * hourMs);
      await ledger.work();
      expect(calls).toEqual(['paid', 'reversed', 'paid']);
      expect(await ledger.path(id)).toBe('created > submitted > settled > reversed > created > submitted > settled');
    });

    it('is not reversed by a single wrong status, or by a sequencer that no longer knows it', async () => {
      const ledger = fixture();
      const id = await ledger.buy();
      ledger.reverse(id);
      await ledger.after(2 * minuteMs);
      ledger.pay(id);
      await ledger.after(minuteMs);
      ledger.setStatus(id, { exists: false, intentSubmitted: false });
      for (let hour = 0; hour < 60; hour += 1) await ledger.after(hourMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', dueAt: undefined });
    });

    it('whose onReversed fails becomes a dead letter, which can be retried', async () => {
      let calls = 0;
      const onReversed = (): void => {
        calls += 1;
        if (calls <= 3) throw new Error('the stock is locked');
      };
      const ledger = fixture({ hooks: { onReversed } });
      const id = await ledger.buy();
      ledger.reverse(id);
      for (let step = 0; step < 6; step += 1) await ledger.after(2 * minuteMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'dead', deadLetterHook: 'onReversed' });
      await ledger.retry(id);
      await ledger.work();
      expect(await ledger.path(id)).toBe('created > submitted > settled > dead > settled > reversed');
    });

    /** A payment whose reversal was confirmed, and whose onReversed has failed. */
    async function withFailedReversal(failures = 1) {
      const attempts: number[] = [];
      const onReversed: PaymentHooks['onReversed'] = (_payment, { attempt }) => {
        attempts.push(attempt);
        if (attempts.length <= failures) throw new Error('the stock is locked');
      };
      const ledger = fixture({ hooks: { onReversed } });
      const id = await ledger.buy();
      ledger.reverse(id);
      for (let step = 0; step < 20 && attempts.length < failures; step += 1) await ledger.after(20_000);
      expect(attempts).toEqual([1, 2, 3].slice(0, failures));
      return { ledger, id, attempts };
    }

    it('whose onReversed has failed is not forgotten if the sequencer no longer knows it', async () => {
      const { ledger, id, attempts } = await withFailedReversal();
      ledger.setStatus(id, { exists: false, intentSubmitted: false });
      await ledger.after(minuteMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', dueAt: expect.any(Date) });
      expect(ledger.log.text).toContain(`reported payment ${id} as reversed, and no longer knows it`);
      for (let day = 0; day < 40; day += 1) await ledger.after(dayMs);
      expect(await ledger.find(id)).toMatchObject({ state: 'dead', deadLetterHook: 'onReversed' });
      await ledger.retry(id);
      await ledger.work();
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', dueAt: expect.any(Date) });
      ledger.reverse(id);
      for (let day = 0; day < 3; day += 1) await ledger.after(dayMs);
      expect([(await ledger.find(id)).state, attempts.length]).toEqual(['reversed', 2]);
    });
  });
});
