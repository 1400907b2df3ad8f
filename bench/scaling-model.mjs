// What so many intents a day need: processes, connections, calls, rows. Constants are what `bench/capacity.mjs` has measured,
// schedules come from the code; every assumption is an option.
//   node bench/scaling-model.mjs [--intents 1e6] [--peak 4] [--logins 0.2] [--paid 0.3] [--pages 0.9] [--page-seconds 90]
//     [--service-ms 50] [--watch-days 30] [--retention-days 400] [--settlement-concurrency 24] [--database-cores 16] [--wal-each 25e6] [--databases 0]
//     [--name 'a plan'] [--and ...the next plan]
//   node bench/scaling-model.mjs site | postgres      what was measured
// Needs a build.
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { capacityTable } from './capacity-tables.mjs';
import { asksOfPage, looksAt, reversalLooksAt } from './schedules.mjs';

const daySeconds = 86_400;
/** Younger intents are polled while their creation is part of the same peak. */
const freshMs = 3_600_000;
/** No process and no database is planned busier, so that one may be lost and a peak may be higher. */
const busy = 0.5;

/**
 * @param constants as in `published/capacity.json`
 * @param given the assumptions, by the names of {@link assumed}
 * @param schedule how often one intent is asked for: `unpaidAgesMs` of its looks, `paidLooks` before it is paid and after,
 *   `pageAsks` while its page is open
 */
export function plan(constants, given, schedule) {
  const { payment, login, look, settle, idle, notify, stream, bytes, prune } = constants;
  const created = given.intents / daySeconds;
  const peak = created * given.peak;
  const [logins, payments] = [given.logins, 1 - given.logins];
  const paid = payments * given.paid;
  const unpaid = payments - paid;

  // Looks for each intent: those at fresh ones come and go with the visitors, those at old ones are spread over the day.
  const fresh = schedule.unpaidAgesMs.filter((ageMs) => ageMs < freshMs).length;
  const looksEach = unpaid * schedule.unpaidAgesMs.length + paid * schedule.paidLooks;
  const looks = created * looksEach;
  const looksAtPeak = looks + (peak - created) * (unpaid * fresh + paid * schedule.paidLooks);
  const settles = peak * paid;
  const asks = peak * given.pages * schedule.pageAsks;

  const streams = peak * given.pages * given.pageSeconds;
  const callsAtPeak = peak * (payments * payment.calls + logins * login.calls) + asks + looksAtPeak + settles;

  const atPeak = { creates: peak, looks: looksAtPeak, settles };
  const onAverage = { creates: created, looks, settles: created * paid };
  /** What customers and their intents cost a second, by one of the constants. */
  const cost = (key, rates) =>
    rates.creates * (payments * payment[key] + logins * login[key]) +
    rates.looks * look[key] +
    rates.settles * settle[key];
  const siteCpu =
    (cost('siteUs', atPeak) +
      asks * constants.status.siteUs +
      peak * given.pages * (stream.openUs + 2 * stream.eventUs)) /
    1e6;
  const ownMs = (constants.looks.atOnce / constants.looks.perSecond) * 1_000 - constants.looks.thinksMs;
  const looksEachProcess = (given.settlementConcurrency / (given.serviceMs + ownMs)) * 1_000;
  const processesBy = {
    cpu: siteCpu / busy,
    streams: streams / given.streamsEach,
    looks: (looksAtPeak + settles) / looksEachProcess,
  };
  const processes = Math.max(2, ...Object.values(processesBy).map(Math.ceil));

  const databaseCpuWork = cost('postgresUs', atPeak) / 1e6 + (created * prune.postgresUs) / 1e6;
  const walBytes = cost('walBytes', atPeak);
  const databasesBy = { cpu: databaseCpuWork / (given.databaseCores * busy), wal: walBytes / given.walEach };
  const databases = given.databases || Math.max(1, ...Object.values(databasesBy).map(Math.ceil));
  const notifies = Math.min(settles, processes * 50);
  // A process receives the notifications of its own database.
  const heardBy = processes / databases;
  const notifyUs = notify.baseUs + notify.listenerUs * heardBy;
  const databaseCpu = databaseCpuWork + (processes * idle.postgresUs + notifies * notifyUs) / 1e6;

  const rows = given.intents * given.retentionDays;
  return {
    created,
    peak,
    looksEach,
    looks,
    looksAtPeak,
    callsAtPeak,
    streams,
    siteCpu,
    looksEachProcess,
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
    heard: notifies * heardBy,
    pruned: created,
    memoryBytes: streams * stream.bytes,
  };
}

/** Ten of the pool, and one that listens. */
const connectionsEach = 11;

/** What is assumed where nothing else is said. */
const assumed = {
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
  settlementConcurrency: 24,
  streamsEach: 5_000,
  databaseCores: 16,
  walEach: 25e6,
  databases: 0,
};

/** The schedules of the built code under the assumptions. */
async function scheduleOf({ watchDays, reversalDays, pageSeconds }) {
  const unpaidAgesMs = looksAt(watchDays * daySeconds * 1_000);
  // Who pays does so while the page is open, in the middle of it.
  const before = unpaidAgesMs.filter((ageMs) => ageMs < (pageSeconds * 1_000) / 2).length;
  const reversal = reversalDays > 0 ? reversalLooksAt(reversalDays * daySeconds * 1_000).length : 0;
  return { unpaidAgesMs, paidLooks: before + reversal, pageAsks: await asksOfPage(pageSeconds * 1_000) };
}

async function readConstants() {
  return JSON.parse(await readFile(new URL('./published/capacity.json', import.meta.url), 'utf8'));
}

/** Three digits. */
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
  'intents created a second; at the peak': ({ created, peak }) => `${short(created)}; ${short(peak)}`,
  'polls of each intent, on average': ({ looksEach }) => short(looksEach),
  'polls a second; at the peak': ({ looks, looksAtPeak }) => `${short(looks)}; ${short(looksAtPeak)}`,
  'calls to the service a second, at the peak': ({ callsAtPeak }) => short(callsAtPeak),
  'event streams, at the peak': ({ streams }) => short(streams),
  'cores that the site uses, at the peak': ({ siteCpu }) => short(siteCpu),
  'polls a second that a process can do': ({ looksEachProcess }) => short(looksEachProcess),
  'processes for the CPU; the streams; the polls': ({ processesBy: { cpu, streams, looks } }) =>
    [cpu, streams, looks].map((count) => short(Math.ceil(count))).join('; '),
  '**processes**': ({ processes }) => `**${short(processes)}**`,
  'connections to Postgres': ({ connections }) => short(connections),
  'transactions a second, at the peak': ({ transactions }) => short(transactions),
  'cores that Postgres uses, at the peak': ({ databaseCpu }) => short(databaseCpu),
  'databases for the CPU; the WAL': ({ databasesBy: { cpu, wal } }) =>
    [cpu, wal].map((count) => short(Math.ceil(count))).join('; '),
  '**databases**': ({ databases }) => `**${short(databases)}**`,
  'WAL a second, at the peak': ({ walBytes }) => `${short(walBytes)}B`,
  'dead rows a day': ({ deadRows }) => short(deadRows),
  'intents stored': ({ rows }) => short(rows),
  'on disk': ({ diskBytes }) => `${short(diskBytes)}B`,
  'NOTIFY a second, at the peak; deliveries': ({ notifies, heard }) => `${short(notifies)}; ${short(heard)}`,
  'intents to prune a second': ({ pruned }) => short(pruned),
};

/** A Markdown table of some plans side by side, by their names. */
function tableOf(plans) {
  const names = Object.keys(plans);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rows = Object.entries(lines).map(([name, cell]) => line([name, ...names.map((plan) => cell(plans[plan]))]));
  return `${[line(['', ...names]), line(['---', ...names.map(() => '---:')]), ...rows].join('\n')}\n`;
}

const optionOf = (name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What is assumed, with what a command line says of it. */
export function readOptions(args) {
  const options = Object.fromEntries(Object.keys(assumed).map((name) => [optionOf(name), { type: 'string' }]));
  const { values } = parseArgs({ args, options: { ...options, name: { type: 'string' } } });
  const given = Object.keys(assumed).flatMap((name) => {
    const text = values[optionOf(name)];
    return text === undefined ? [] : [[name, Number(text)]];
  });
  const wrong = given.find(([, value]) => !Number.isFinite(value) || value < 0);
  if (wrong) throw new Error(`--${optionOf(wrong[0])} is not a number.`);
  const known = { ...assumed, ...Object.fromEntries(given) };
  return { name: values.name ?? `${short(known.intents)} a day`, ...known };
}

/** What a command line asks for: `site` or `postgres`, which is what was measured, or plans, each after an `--and`. */
export async function printed(args) {
  const constants = await readConstants();
  const measured = capacityTable(args[0], constants);
  if (measured) return measured;
  const plans = {};
  for (let left = args; left.length > 0 || Object.keys(plans).length === 0; ) {
    const end = left.includes('--and') ? left.indexOf('--and') : left.length;
    const { name, ...given } = readOptions(left.slice(0, end));
    plans[name] = plan(constants, given, await scheduleOf(given));
    left = left.slice(end + 1);
  }
  return tableOf(plans);
}

if (import.meta.filename === process.argv[1]) {
  try {
    process.stdout.write(await printed(process.argv.slice(2)));
  } catch (error) {
    const options = Object.entries(assumed).map(([name, value]) => `  --${optionOf(name)} ${value}`);
    process.stderr.write(`${error.message}\n\nThe options, with the assumed values:\n${options.join('\n')}\n`);
    process.exitCode = 2;
  }
}
