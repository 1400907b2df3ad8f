import path from 'node:path';
import { pathToFileURL } from 'node:url';

const bench = (file: string) => import(pathToFileURL(path.join(import.meta.dirname, '../../bench', file)).href);

describe('the decisions of the benchmark', () => {
  test.each([
    ['two windows', [100, 100], false],
    ['three windows within 3%', [300, 103, 100, 101], true],
    ['three windows within 3.1%', [103.1, 100, 101], false],
    ['a slow decline', [300, 200, 150, 120], false],
  ])('isStable, after %s, returns the right answer', async (_what, cpuUs, expected) => {
    const { isStable } = await bench('statistics.mjs');
    expect(isStable(cpuUs)).toBe(expected);
  });

  test.each([
    ['only the benchmark uses the cores', { idleMs: 2_500, ownMs: 1_500 }, 0],
    ['another program uses half a core', { idleMs: 1_500, ownMs: 1_500 }, 0.25],
    ['the clocks differ by a tick', { idleMs: 2_510, ownMs: 1_500 }, 0],
  ])('othersShareOf, when %s, returns the share of all cores', async (_when, used, expected) => {
    const { othersShareOf } = await bench('statistics.mjs');
    const before = { atMs: 50_000, idleMs: 7_000, ownMs: 300 };
    const after = { atMs: 52_000, idleMs: 7_000 + used.idleMs, ownMs: 300 + used.ownMs };
    expect(othersShareOf({ before, after, cores: 2 })).toBe(expected);
  });

  test('isDisturbed, when other programs use more than a tenth of the cores on average, returns true', async () => {
    const { isDisturbed } = await bench('statistics.mjs');
    const rows = [
      [0.02, 0.17],
      [0.02, 0.19],
    ].map((shares) => shares.map((others) => ({ others })));
    expect(rows.map(isDisturbed)).toEqual([false, true]);
  });
});

describe('the tables of the benchmark', () => {
  const variant = (cpuUs: number[], others = 0) => ({
    samples: cpuUs.map((us) => ({
      ...{ cpuUs: us, otherThreads: 0.2, perSecond: 9_000, p50Ms: 1, p99Ms: 3, rssMiB: 80 },
      ...{ upstreamCalls: 1, others },
    })),
    warmUp: { tookMs: 12_400, isStable: others === 0, gc: 0.05 },
    allocatedBytes: 20_480,
  });
  const quiet = { limit: variant([100, 100]), ours: variant([150, 154]) };
  const disturbed = { limit: variant([100, 100], 0.2), ours: variant([150, 154]) };
  const workload = {
    goals: [
      { work: 'x limit', variant: 'ours', of: 'limit', atMost: 1.5 },
      { work: 'minus limit', variant: 'ours', minus: 'limit', atMost: 60 },
      { work: 'alone', variant: 'ours', atMost: 700 },
      { work: 'not measured', variant: 'ours', of: 'usual', atMost: 1 },
    ],
  };

  test('tableOf, on a quiet machine, prints the ratios and the warm-up', async () => {
    const { tableOf } = await bench('report.mjs');
    const lines = tableOf('create payment', quiet, { busy: false }).split('\n');
    expect(lines[0]).toBe(
      '| create payment | CPU us | x limit | GC, main thread | other threads (JIT, GC) | KiB allocated | per second | p50 ms | p99 ms | RSS MiB | calls upstream | other programs | warm-up |',
    );
    expect(lines[3]).toBe('| ours | 152.0 | 1.52 | 5% | 20% | 20.0 | 9000 | 1.00 | 3.00 | 80 | 1 | 0% | 12 s |');
  });

  test('tableOf, while other programs use the machine, refuses the ratios or marks them', async () => {
    const { tableOf } = await bench('report.mjs');
    const ours = (busy: boolean) => tableOf('create payment', disturbed, { busy }).split('\n')[3];
    expect(ours(false)).toContain('| 152.0 | refused |');
    expect(ours(true)).toContain('| 152.0 | 1.52 (busy) |');
    expect(tableOf('create payment', disturbed, { busy: false }).split('\n')[2]).toContain('| 12 s, not stable |');
  });

  test('tableOf, for readings that the system does not have, leaves the cells empty', async () => {
    const { tableOf } = await bench('report.mjs');
    const { samples, ...rest } = variant([100]);
    const without = samples.map((sample) => ({ ...sample, otherThreads: Number.NaN }));
    const printed = tableOf('key file', { ours: { ...rest, samples: without, allocatedBytes: undefined } }, {});
    expect(printed.split('\n')[2]).toContain('| 5% |  |  | 9000 |');
  });

  test('goalRows, on a quiet machine, compares each goal with its measurement', async () => {
    const { goalRows } = await bench('report.mjs');
    expect(goalRows(workload, quiet, { busy: false })).toEqual([
      ['x limit', 'at most 1.50', '1.52', 'no'],
      ['minus limit', 'at most + 60.0 us', '+ 52.0 us', 'yes'],
      ['alone', 'at most 700.0 us', '152.0 us', 'yes'],
    ]);
  });

  test('goalRows, while other programs use the machine, refuses the goals of the disturbed rows', async () => {
    const { goalRows, disturbanceOf } = await bench('report.mjs');
    const measured = (busy: boolean) => goalRows(workload, disturbed, { busy }).map((row: string[]) => row.slice(2));
    expect(measured(false)).toEqual([
      ['refused', ''],
      ['refused', ''],
      ['152.0 us', 'yes'],
    ]);
    expect(measured(true)[0]).toEqual(['1.52 (busy)', 'no']);
    const results = { 'create payment': disturbed };
    expect(disturbanceOf(results, { busy: false })).toMatch(/create payment: limit\. .*Stop the other programs/);
    expect(disturbanceOf(results, { busy: true })).toContain('marked with (busy)');
    expect(disturbanceOf({ 'create payment': quiet }, { busy: false })).toBeUndefined();
  });
});

describe('the readings of the benchmark', () => {
  test('parseStat, for a name with brackets and spaces, returns the times', async () => {
    const { parseStat } = await bench('machine.mjs');
    const text = '4242 (node (a) b) S 17 4242 1 0 -1 4194560 9 8 7 6 120 30 50 5 20 0 11 0 99 1000 200\n';
    expect(parseStat(text)).toEqual({ id: 4242, parent: 17, ownMs: 1_500, exitedChildrenMs: 550 });
  });

  test('describeMachine returns the processor, its cores and the version of Node', async () => {
    const { describeMachine } = await bench('machine.mjs');
    expect(describeMachine()).toMatch(/^.+, \d+ cores, .*Node \d+\.\d+\.\d+$/);
  });

  test('MessageCounter, for split and pipelined messages, counts statements and round trips', async () => {
    const { MessageCounter } = await bench('postgres-relay.mjs');
    const message = (type: string, body = '') => {
      const bytes = Buffer.alloc(5 + body.length);
      bytes.write(type);
      bytes.writeUInt32BE(4 + body.length, 1);
      bytes.write(body, 5);
      return bytes;
    };
    const done = message('C', 'SELECT 1\0');
    const ready = message('Z', 'I');
    const counter = new MessageCounter();
    const { fromClient, fromServer } = counter.connection();
    // One query with two statements. Its response arrives in single bytes.
    fromClient();
    for (const byte of Buffer.concat([message('D', 'CZ'), done, done, ready])) fromServer(Buffer.of(byte));
    expect(counter).toMatchObject({ statements: 2, roundTrips: 1 });
    // Two queries without a pause: the client waits once. The second fails.
    fromClient();
    fromClient();
    fromServer(Buffer.concat([done, ready, message('E'), ready]));
    expect(counter).toMatchObject({ statements: 4, roundTrips: 2 });
    // A notification, for which the client does not wait.
    fromServer(message('A', 'paid'));
    expect(counter).toMatchObject({ statements: 4, roundTrips: 2 });
  });
});
