import { Places } from '../../src/ledger/places.js';

const never = new AbortController().signal;

/** Work whose end a test sets. */
function held(name: string, log: string[]): { run: () => Promise<string>; end: () => void; fail: () => void } {
  let end = (): void => undefined;
  let fail = (): void => undefined;
  const done = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = () => reject(new Error(name));
  });
  const run = async (): Promise<string> => {
    log.push(`${name} in`);
    await done;
    return name;
  };
  return { run, end, fail };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('so many are in at once, and the next come in their order, also after one that has failed', async () => {
  const log: string[] = [];
  const places = new Places(2);
  const works = ['a', 'b', 'c', 'd'].map((name) => held(name, log));
  const results = works.map(({ run }) => places.take(never, run));
  await soon();
  expect(log).toEqual(['a in', 'b in']);
  works[1]?.fail();
  await expect(results[1]).rejects.toThrow('b');
  await soon();
  expect(log).toEqual(['a in', 'b in', 'c in']);
  for (const { end } of works) end();
  expect(await Promise.all([results[0], results[2], results[3]])).toEqual(['a', 'c', 'd']);
  expect(await places.take(never, async () => 'free again')).toBe('free again');
});

test('who is called away while waiting begins nothing, and holds nobody up', async () => {
  const log: string[] = [];
  const places = new Places(1);
  const [first, second, third] = [held('first', log), held('second', log), held('third', log)];
  const away = new AbortController();
  const results = [places.take(never, first.run), places.take(away.signal, second.run), places.take(never, third.run)];
  away.abort(new Error('called away'));
  await expect(results[1]).rejects.toThrow('called away');
  first.end();
  third.end();
  expect(await results[2]).toBe('third');
  expect(log).toEqual(['first in', 'third in']);
  await expect(places.take(away.signal, second.run)).rejects.toThrow('called away');
  expect(await places.take(never, async () => 'free again')).toBe('free again');
});
