import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Urgent } from '../../src/ledger/urgent.js';

/** Whether a promise has resolved by now. */
async function isTold(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), delay(0).then(() => false)]);
}

describe('hints at intents', () => {
  it('are taken once each, in the order in which they came, as many as there is room for', () => {
    const urgent = new Urgent(() => undefined);
    for (const id of ['a', 'b', 'a', 'c']) void urgent.add(id);
    expect(urgent.size).toBe(3);
    expect(urgent.take(2)).toEqual(['a', 'b']);
    expect(urgent.take(2)).toEqual(['c']);
    expect(urgent.take(2)).toEqual([]);
  });

  it('wake whoever takes them', () => {
    const wake = jest.fn();
    void new Urgent(wake).add('a');
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('tell all who hinted, once the intent was looked at', async () => {
    const urgent = new Urgent(() => undefined);
    const told = [urgent.add('a'), urgent.add('a')];
    urgent.take(1);
    expect(await isTold(told[0] as Promise<void>)).toBe(false);
    urgent.done('a');
    await Promise.all(told);
    expect(urgent.take(1)).toEqual([]);
  });

  it('that come while the intent is looked at lead to another look: the sequencer may have been asked before', async () => {
    const wake = jest.fn();
    const urgent = new Urgent(wake);
    const first = urgent.add('a');
    urgent.take(1);
    void urgent.add('a');
    urgent.done('a');
    await first;
    expect(wake).toHaveBeenCalledTimes(2);
    expect(urgent.take(1)).toEqual(['a']);
  });

  it('are not done before they were taken: the work that ended was begun before', async () => {
    const urgent = new Urgent(() => undefined);
    const told = urgent.add('a');
    urgent.done('a');
    expect(await isTold(told)).toBe(false);
    expect(urgent.take(1)).toEqual(['a']);
  });

  it('at what somebody else is looking at are taken again, later and later, and given up in the end', async () => {
    jest.useFakeTimers();
    const urgent = new Urgent(() => undefined);
    const told = urgent.add('a');
    const waits: number[] = [];
    for (let waitedMs = 0; waitedMs < 10_000; ) {
      urgent.missed(urgent.take(1));
      const begunMs = waitedMs;
      while (urgent.size === 0 && waitedMs < 10_000) {
        jest.advanceTimersByTime(50);
        waitedMs += 50;
      }
      if (urgent.size > 0) waits.push(waitedMs - begunMs);
    }
    jest.useRealTimers();
    expect(waits).toEqual([100, 200, 400, 800]);
    await told;
  });

  it('are bounded: what does not fit is looked at when it is due', async () => {
    const urgent = new Urgent(() => undefined);
    for (let index = 0; index < 1_000; index += 1) void urgent.add(String(index));
    await urgent.add('one too many');
    expect(urgent.take(2_000)).toHaveLength(1_000);
  });

  it('keep nobody waiting once the ledger is closed', async () => {
    const urgent = new Urgent(() => undefined);
    const waiting = urgent.add('a');
    const taken = urgent.add('b');
    urgent.take(1);
    urgent.close();
    await Promise.all([waiting, taken]);
  });
});
