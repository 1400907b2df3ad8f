// The resources for a number of intents a day. The constants were measured by capacity.mjs, the poll schedules come from the
// built code, and every assumption is an option.
//   node bench/scaling-model.mjs [--intents 1e6] [--peak 4] [--logins 0.2] [--paid 0.3] [--pages 0.9] [--page-seconds 90]
//     [--service-ms 50] [--watch-days 30] [--retention-days 400] [--database-cores 16] [--wal-each 25e6] [--databases 0]
//     [--name 'a plan'] [--and ...the next plan]
//   node bench/scaling-model.mjs site | postgres      prints the measured constants
// Requires a build.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { pollAges, pollsOfPage, reversalPollTimes } from './poll-schedules.mjs';
import { table } from './report.mjs';

/** Of a process: `settlementConcurrency` in src/config/ledger.ts. */
const concurrentPolls = 24;
const daySeconds = 86_400;
/** The polls of younger intents are part of the peak of their creation. */
const freshMs = 3_600_000;
/** The planned load of a process or database. The rest is for failures and higher peaks. */
const plannedLoad = 0.5;

/**
 * Computes the resources.
 * @param constants as in `published/capacity.json`
 * @param given the assumptions, as in {@link assumptions}
 * @param schedule the polls of one intent: `unpaidAgesMs` if it stays unpaid, `paidPolls` before and after it is paid, and
 *   `pagePolls` while its page is open
 */
export function plan(constants, given, schedule) {
  const { payment, login, poll, settle, idle, notify, stream, bytes, prune } = constants;
  const created = given.intents / daySeconds;
  const peak = created * given.peak;
  const [logins, payments] = [given.logins, 1 - given.logins];
  const paid = payments * given.paid;
  const unpaid = payments - paid;

  // The polls of fresh intents follow the peak. Those of older intents are spread over the day.
  const fresh = schedule.unpaidAgesMs.filter((ageMs) => ageMs < freshMs).length;
  const pollsPerIntent = unpaid * schedule.unpaidAgesMs.length + paid * schedule.paidPolls;
  const polls = created * pollsPerIntent;
  const pollsAtPeak = polls + (peak - created) * (unpaid * fresh + paid * schedule.paidPolls);
  const settles = peak * paid;
  const pageCalls = peak * given.pages * schedule.pagePolls;

  const streams = peak * given.pages * given.pageSeconds;
  const callsAtPeak = peak * (payments * payment.calls + logins * login.calls) + pageCalls + pollsAtPeak + settles;

  const atPeak = { creates: peak, polls: pollsAtPeak, settles };
  const onAverage = { creates: created, polls, settles: created * paid };
  /** The cost per second of all operations, in the unit of the constant. */
  const cost = (key, rates) =>
    rates.creates * (payments * payment[key] + logins * login[key]) +
    rates.polls * poll[key] +
    rates.settles * settle[key];
  const siteCpu =
    (cost('siteUs', atPeak) +
      pageCalls * constants.status.siteUs +
      peak * given.pages * (stream.openUs + 2 * stream.eventUs)) /
    1e6;
  const ownMs = (constants.polls.concurrency / constants.polls.perSecond) * 1_000 - constants.polls.serviceMs;
  const pollsPerProcess = (concurrentPolls / (given.serviceMs + ownMs)) * 1_000;
  const processesBy = {
    cpu: siteCpu / plannedLoad,
    streams: streams / given.streamsEach,
    polls: (pollsAtPeak + settles) / pollsPerProcess,
  };
  const processes = Math.max(2, ...Object.values(processesBy).map(Math.ceil));

  const databaseCpuWork = cost('postgresUs', atPeak) / 1e6 + (created * prune.postgresUs) / 1e6;
  const walBytes = cost('walBytes', atPeak);
  const databasesBy = { cpu: databaseCpuWork / (given.databaseCores * plannedLoad), wal: walBytes / given.walEach };
  const databases = given.databases || Math.max(1, ...Object.values(databasesBy).map(Math.ceil));
  const notifies = Math.min(settles, processes * 50);
  // A process receives the notifications of its own database.
  const listenersEach = processes / databases;
  const notifyUs = notify.baseUs + notify.listenerUs * listenersEach;
  const databaseCpu = databaseCpuWork + (processes * idle.postgresUs + notifies * notifyUs) / 1e6;

  const rows = given.intents * given.retentionDays;
  return {
    created,
    peak,
    pollsPerIntent,
    polls,
    pollsAtPeak,
    callsAtPeak,
    streams,
    siteCpu,
    pollsPerProcess,
    processesBy,
    processes,
    connections: processes * connectionsEach,
    transactions: cost('transactions', atPeak),
    databaseCpu,
    databasesBy,
    databases,
    walBytes,
    deadRows: cost('deadRows', onAverage) * daySeconds,
    rows,
    diskBytes: rows * ((1 - paid) * bytes.open + paid * bytes.settled),
    notifies,
    delivered: notifies * listenersEach,
    pruned: created,
    memoryBytes: streams * stream.bytes,
  };
}

/** Ten in the pool and one that listens. */
const connectionsEach = 11;

/** The default assumptions. */
const assumptions = {
  intents: 1e6,
  peak: 4,
  logins: 0.2,
  paid: 0.3,
  pages: 0.9,
  pageSeconds: 90,
  serviceMs: 50,
  watchDays: 30,
  reversalDays: 1,
  retentionDays: 400,
  streamsEach: 5_000,
  databaseCores: 16,
  walEach: 25e6,
  databases: 0,
};

/** The poll schedules under the assumptions. */
async function scheduleOf({ watchDays, reversalDays, pageSeconds }) {
  const unpaidAgesMs = pollAges(watchDays * daySeconds * 1_000);
  // A payment is made in the middle of the time that the page is open.
  const before = unpaidAgesMs.filter((ageMs) => ageMs < (pageSeconds * 1_000) / 2).length;
  const reversal = reversalDays > 0 ? reversalPollTimes(reversalDays * daySeconds * 1_000).length : 0;
  return { unpaidAgesMs, paidPolls: before + reversal, pagePolls: await pollsOfPage(pageSeconds * 1_000) };
}

async function readConstants() {
  return JSON.parse(await readFile(new URL('./published/capacity.json', import.meta.url), 'utf8'));
}

/** Formats a number with two or three digits. */
function short(value) {
  const [size, unit] = [
    [1e12, ' T'],
    [1e9, ' G'],
    [1e6, ' M'],
    [1e4, ' k'],
  ].find(([from]) => value >= from) ?? [1, ''];
  return `${Number((unit === ' k' ? value / 1_000 : value / size).toPrecision(value < 100 ? 2 : 3))}${unit}`;
}

const lines = {
  'intents created per second; at the peak': ({ created, peak }) => `${short(created)}; ${short(peak)}`,
  'polls of an intent, on average': ({ pollsPerIntent }) => short(pollsPerIntent),
  'polls per second; at the peak': ({ polls, pollsAtPeak }) => `${short(polls)}; ${short(pollsAtPeak)}`,
  'calls to the service per second, at the peak': ({ callsAtPeak }) => short(callsAtPeak),
  'event streams, at the peak': ({ streams }) => short(streams),
  'cores of the site, at the peak': ({ siteCpu }) => short(siteCpu),
  'polls per second that one process can do': ({ pollsPerProcess }) => short(pollsPerProcess),
  'processes for CPU; streams; polls': ({ processesBy: { cpu, streams, polls } }) =>
    [cpu, streams, polls].map((count) => short(Math.ceil(count))).join('; '),
  '**processes**': ({ processes }) => `**${short(processes)}**`,
  'connections to Postgres': ({ connections }) => short(connections),
  'transactions per second, at the peak': ({ transactions }) => short(transactions),
  'cores of Postgres, at the peak': ({ databaseCpu }) => short(databaseCpu),
  'databases for CPU; WAL': ({ databasesBy: { cpu, wal } }) =>
    [cpu, wal].map((count) => short(Math.ceil(count))).join('; '),
  '**databases**': ({ databases }) => `**${short(databases)}**`,
  'WAL per second, at the peak': ({ walBytes }) => `${short(walBytes)}B`,
  'dead rows per day': ({ deadRows }) => short(deadRows),
  'stored intents': ({ rows }) => short(rows),
  'on disk': ({ diskBytes }) => `${short(diskBytes)}B`,
  'NOTIFY per second, at the peak; deliveries': ({ notifies, delivered }) => `${short(notifies)}; ${short(delivered)}`,
  'pruned intents per second': ({ pruned }) => short(pruned),
};

const operationNames = {
  payment: 'create a payment',
  login: 'create and complete a login',
  status: 'read a status from the service',
  poll: 'poll an unpaid payment',
  settle: 'settle a payment, with an empty `onPaid`',
};

const ms = (us) => (us / 1_000).toFixed(2);
/** Per second on a core at {@link plannedLoad}. */
const perSecond = (us) => ((plannedLoad * 1e6) / us).toFixed(0);

const constantsTables = {
  site: (constants) =>
    table(
      ['operation', 'CPU, ms', 'per second on half a core', 'calls to the service'],
      Object.entries(operationNames).map(([operation, name]) => {
        const { siteUs, calls } = constants[operation];
        return [name, ms(siteUs), perSecond(siteUs), calls.toFixed(0)];
      }),
    ),
  postgres: (constants) =>
    table(
      ['operation', 'CPU, ms', 'transactions', 'dead rows', 'WAL, kB'],
      Object.entries(operationNames)
        .filter(([operation]) => constants[operation].transactions > 0)
        .map(([operation, name]) => {
          const { postgresUs, transactions, deadRows, walBytes } = constants[operation];
          return [name, ms(postgresUs), transactions.toFixed(1), deadRows.toFixed(0), (walBytes / 1_000).toFixed(1)];
        }),
    ),
};

/** A Markdown table that compares plans. */
function plansTable(plans) {
  const rows = Object.entries(lines).map(([name, cell]) => [name, ...Object.values(plans).map(cell)]);
  return table(['', ...Object.keys(plans)], rows);
}

const optionOf = (name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The assumptions, with the options of a command line. */
export function readOptions(args) {
  const options = Object.fromEntries(Object.keys(assumptions).map((name) => [optionOf(name), { type: 'string' }]));
  const { values } = parseArgs({ args, options: { ...options, name: { type: 'string' } } });
  const given = Object.keys(assumptions).flatMap((name) => {
    const text = values[optionOf(name)];
    return text === undefined ? [] : [[name, Number(text)]];
  });
  const wrong = given.find(([, value]) => !Number.isFinite(value) || value < 0);
  if (wrong) throw new Error(`--${optionOf(wrong[0])} must be a number of at least 0.`);
  const known = { ...assumptions, ...Object.fromEntries(given) };
  return { name: values.name ?? `${short(known.intents)} a day`, ...known };
}

/** The output for a command line: `site` or `postgres` prints constants, other arguments are plans separated by `--and`. */
export async function printed(args) {
  const constants = await readConstants();
  const measured = constantsTables[args[0]]?.(constants);
  if (measured) return measured;
  const plans = {};
  for (let left = args; left.length > 0 || Object.keys(plans).length === 0; ) {
    const end = left.includes('--and') ? left.indexOf('--and') : left.length;
    const { name, ...given } = readOptions(left.slice(0, end));
    plans[name] = plan(constants, given, await scheduleOf(given));
    left = left.slice(end + 1);
  }
  return plansTable(plans);
}

if (import.meta.filename === process.argv[1]) {
  try {
    process.stdout.write(await printed(process.argv.slice(2)));
  } catch (error) {
    const options = Object.entries(assumptions).map(([name, value]) => `  --${optionOf(name)} ${value}`);
    process.stderr.write(`${error.message}\n\nOptions with their defaults:\n${options.join('\n')}\n`);
    process.exitCode = 2;
  }
}
