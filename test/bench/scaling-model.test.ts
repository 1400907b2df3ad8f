import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { textOf } from '../docs/guides.js';

const bench = (file: string) =>
  import(pathToFileURL(path.join(path.dirname(fileURLToPath(import.meta.url)), '../../bench', file)).href);

const secondMs = 1_000;
const dayMs = 86_400_000;

describe('the model of docs/scaling.md', () => {
  const constants = {
    payment: { siteUs: 1_000, postgresUs: 500, transactions: 4, walBytes: 1_000, deadRows: 1, calls: 1 },
    login: { siteUs: 2_000, postgresUs: 600, transactions: 5, walBytes: 2_000, deadRows: 2, calls: 2 },
    status: { siteUs: 100 },
    poll: { siteUs: 200, postgresUs: 300, transactions: 2, walBytes: 400, deadRows: 2 },
    settle: { siteUs: 500, postgresUs: 1_000, transactions: 5, walBytes: 3_000, deadRows: 4 },
    idle: { postgresUs: 1_000 },
    // 24 concurrent polls at 400 per second take 60 ms each, 50 ms of them in the service.
    polls: { serviceMs: 50, concurrency: 24, perSecond: 400 },
    notify: { baseUs: 30, listenerUs: 10 },
    stream: { openUs: 300, eventUs: 50, bytes: 16_000 },
    bytes: { open: 1_000, settled: 2_000 },
    prune: { postgresUs: 10 },
  };
  // 10 intents per second, 20 at the peak: half are logins, a quarter are paid payments, a quarter unpaid ones.
  const given = {
    ...{
      intents: 864_000,
      peak: 2,
      logins: 0.5,
      paid: 0.5,
      pages: 1,
      pageSeconds: 10,
      serviceMs: 30,
      settlementConcurrency: 4,
    },
    ...{ streamsEach: 100, retentionDays: 10, databaseCores: 2, walEach: 1e6, databases: 0 },
  };
  const schedule = { unpaidAgesMs: [secondMs, 2 * 3_600 * secondMs], paidPolls: 3, pagePolls: 2 };

  it('plan() returns the results of a manual calculation', async () => {
    const { plan } = await bench('scaling-model.mjs');
    const { processesBy, databasesBy, ...rest } = plan(constants, given, schedule);
    // 0.25 x 2 + 0.25 x 3 polls; at the peak those of old intents stay constant: 12.5 + 10 x (0.25 x 1 + 0.25 x 3).
    expect(rest).toMatchObject({ created: 10, peak: 20, pollsPerIntent: 1.25, polls: 12.5, pollsAtPeak: 22.5 });
    // 20 x (0.5 x 1 + 0.5 x 2) creates, 40 calls of pages, 22.5 polls, 5 settled.
    expect(rest).toMatchObject({ callsAtPeak: 97.5, streams: 200, memoryBytes: 3_200_000 });
    // 30 + 4.5 + 2.5 ms, the page calls 4 ms, the streams 20 x (300 + 2 x 50) us.
    expect(rest.siteCpu).toBeCloseTo(0.049, 10);
    expect(rest.pollsPerProcess).toBeCloseTo(100, 10);
    expect(processesBy.cpu).toBeCloseTo(0.098, 10);
    expect(processesBy.streams).toBe(2);
    expect(processesBy.polls).toBeCloseTo(0.275, 10);
    expect(rest).toMatchObject({ processes: 2, connections: 22, databases: 1, transactions: 160, walBytes: 54_000 });
    expect(databasesBy.cpu).toBeCloseTo(0.02285, 10);
    expect(databasesBy.wal).toBeCloseTo(0.054, 10);
    // 11 + 6.75 + 5 ms, pruning 0.1, two idle processes 2, five times a NOTIFY with two listeners.
    expect(rest.databaseCpu).toBeCloseTo(0.0251, 10);
    // (10 x 1.5 + 12.5 x 2 + 2.5 x 4) x 86400
    expect(rest.deadRows).toBeCloseTo(4_320_000, 5);
    // Three quarters of 1000 bytes, one of 2000.
    expect(rest).toMatchObject({ rows: 8_640_000, notifies: 5, delivered: 10, pruned: 10 });
    expect(rest.diskBytes).toBeCloseTo(10.8e9, 0);
  });

  it('plan() derives the processes and databases from the scarcest resource', async () => {
    const { plan } = await bench('scaling-model.mjs');
    expect(plan(constants, { ...given, streamsEach: 30 }, schedule).processes).toBe(7);
    expect(plan(constants, { ...given, settlementConcurrency: 0.4 }, schedule).processes).toBe(3);
    // 2.285 cores need 5 databases of one half-busy core. 5.4 MB of WAL per second need 6 databases of 1 MB.
    expect(plan(constants, { ...given, intents: 86_400_000, databaseCores: 1 }, schedule).databases).toBe(6);
    expect(plan(constants, { ...given, walEach: 20_000 }, schedule).databases).toBe(3);
  });

  it('the poll schedules match those of the code', async () => {
    const { pollAges, reversalPollTimes, pollsOfPage } = await bench('poll-schedules.mjs');
    expect(pollAges(10 * secondMs)).toEqual([2_000, 4_000, 6_000, 8_000, 10_000, 10_000 + dayMs]);
    const ages: number[] = pollAges(30 * dayMs);
    expect(ages).toHaveLength(108);
    expect((ages.at(-1) ?? 0) - (ages.at(-2) ?? 0)).toBe(dayMs);
    // 1, 2, 4, ... 1024 minutes are within the day. The last poll is later.
    expect(reversalPollTimes(dayMs)).toHaveLength(12);
    // The first request, then polls at 0, 1, 2.5, 4.75 and 8.1 s.
    expect(await pollsOfPage(10 * secondMs)).toBe(6);
    // Five more at 13.2, 20.8, 32.2, 49.3 and 74.9 s, and five of the page, each 15 s after the response to the one before.
    expect(await pollsOfPage(90 * secondMs)).toBe(16);
    expect(textOf('src/browser/flow/watch.ts')).toContain('const pollDuringStreamMs = 15_000;');
  });

  it('readOptions() rejects values that are not numbers and unknown options', async () => {
    const { readOptions } = await bench('scaling-model.mjs');
    expect(readOptions(['--intents', '1e8', '--watch-days', '1'])).toMatchObject({
      intents: 1e8,
      watchDays: 1,
      peak: 4,
    });
    expect(() => readOptions(['--peak', 'many'])).toThrow('--peak');
    expect(() => readOptions(['--wishes', '3'])).toThrow('--wishes');
  });
});

test('docs/scaling.md, several-databases.md and measurements.md have the tables that the model prints', async () => {
  const { printed } = await bench('scaling-model.mjs');
  const pages = ['docs/scaling.md', 'docs/several-databases.md', 'docs/measurements.md'].map(textOf).join('\n');
  const tables = [...pages.matchAll(/<!-- npm run model -- (.*) -->\n\n((?:\|.*\n)+)/g)];
  expect(tables.length).toBeGreaterThanOrEqual(4);
  for (const [, line = '', table] of tables) {
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
    expect(table).toBe(await printed(args));
  }
});
