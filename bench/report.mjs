import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { medianOf, ratioOf } from './measure.mjs';

const short = (value) => (value === undefined ? '' : value < 0.1 ? value.toFixed(3) : value.toFixed(2));

const columns = [
  ['CPU us', (samples) => medianOf(samples).toFixed(1)],
  ['x limit', (samples, work) => short(ratioOf(samples, work.limit))],
  ['x usual', (samples, work) => short(ratioOf(samples, work.usual))],
  ['x hello-world', (samples, work) => short(ratioOf(samples, work['hello-world']))],
  ['a second', (samples) => medianOf(samples, 'perSecond').toFixed(0)],
  ['p50 ms', (samples) => medianOf(samples, 'p50Ms').toFixed(2)],
  ['p99 ms', (samples) => medianOf(samples, 'p99Ms').toFixed(2)],
  ['RSS MiB', (samples) => medianOf(samples, 'rssMiB').toFixed(0)],
  ['busy', (samples) => `${(medianOf(samples, 'busy') * 100).toFixed(0)}%`],
  ['calls upstream', (samples) => Number(medianOf(samples, 'upstreamCalls').toPrecision(2)).toString()],
];

/** As multiples of `limit` and of `usual`, if there is one. */
const multiples = [
  ['CPU', 'cpuUs'],
  ['a second', 'perSecond'],
  ['p50', 'p50Ms'],
  ['p99', 'p99Ms'],
  ['RSS', 'rssMiB'],
].flatMap(([title, key]) => ['limit', 'usual'].map((other) => ({ title: `${title} x ${other}`, key, other })));

export const table = (head, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map((_cell, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')}\n`;
};

/** A Markdown table of what was measured of one work. A column that says nothing of it is left out. */
export function tableOf(name, work) {
  const shown = columns.filter(([title]) => !title.startsWith('x ') || work[title.slice(2)]);
  const rows = Object.entries(work).map(([variant, samples]) => [
    variant,
    ...shown.map(([, cell]) => cell(samples, work)),
  ]);
  return table([name, ...shown.map(([title]) => title)], rows);
}

/** The same once more, all of it as multiples; empty where there is nothing to compare with. */
export function multiplesTableOf(name, work) {
  const shown = multiples.filter(({ other }) => work[other]);
  if (shown.length === 0) return '';
  const rows = Object.entries(work).map(([variant, samples]) => [
    variant,
    ...shown.map(({ key, other }) => short(ratioOf(samples, work[other], key))),
  ]);
  return table([`${name}, in multiples`, ...shown.map(({ title }) => title)], rows);
}

/** What each number that the work is to reach has come to; only of what was measured. */
export function numbersOf(name, { numbers }, work) {
  return numbers.flatMap(({ variant, of, key = 'cpuUs', atMost }) => {
    const samples = work[variant];
    const value = of ? ratioOf(samples, work[of], key) : samples && medianOf(samples, key);
    if (value === undefined) return [];
    const what = [key === 'cpuUs' ? 'CPU' : key, of && `of ${of}`].filter(Boolean).join(' ');
    return [{ name: `${name}: ${variant}, ${what}`, value, atMost, isReached: value <= atMost }];
  });
}

export function numbersTable(numbers) {
  const rows = numbers.map(({ name, value, atMost, isReached }) => [
    name,
    short(value),
    short(atMost),
    isReached ? 'yes' : 'no',
  ]);
  return table(['number', 'measured', 'at most', 'reached'], rows);
}

/** Bars of what a request costs, in multiples of the limit. Those that are too long for the page say so. */
export function plotOf(name, work) {
  const entries = Object.entries(work).map(([variant, samples]) => ({
    variant,
    times: ratioOf(samples, work.limit) ?? 1,
    cpuUs: medianOf(samples),
  }));
  const [left, width, row] = [270, 330, 26];
  const longest = Math.min(8, Math.max(...entries.map(({ times }) => times)));
  const bars = entries.map(({ variant, times, cpuUs }, index) => {
    const y = 40 + index * row;
    const length = (Math.min(times, longest) / longest) * width;
    const colour = variant.startsWith('ours') ? '#2563eb' : '#94a3b8';
    const text = `${times.toFixed(2)} x${times > longest ? ', and on' : ''} (${cpuUs.toFixed(0)} us)`;
    return `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${variant}</text>
<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="18" rx="3" fill="${colour}"/>
<text x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${text}</text>`;
  });
  const height = 40 + entries.length * row + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 ${height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="780" height="${height}" fill="#fff"/>
<text x="16" y="22" font-weight="600">${name}: CPU of a request, in multiples of the limit</text>
${bars.join('\n')}
</svg>
`;
}

/** A table of the streams of events. */
export function streamsTable(clients, streams) {
  const rows = Object.entries(streams).map(([crowd, { openCpuUs, bytesEach, eventCpuUs, delivered }]) => [
    crowd,
    openCpuUs.toFixed(0),
    (bytesEach / 1024).toFixed(1),
    eventCpuUs.toFixed(1),
    delivered,
  ]);
  return table(
    [`${clients} streams`, 'opening, CPU us each', 'RSS KiB each', 'one event, CPU us each', 'delivered'],
    rows,
  );
}

/** Writes the measurements to a folder. Of the machine they name only the version of Node. */
export async function writeResults(folder, { settings, results, numbers, clients, streams }) {
  await mkdir(folder, { recursive: true });
  const write = (name, text) => writeFile(path.join(folder, name), text);
  const { node } = process.versions;
  await write('results.json', `${JSON.stringify({ node, settings, results, clients, streams }, undefined, 2)}\n`);
  const { rounds, ms, connections } = settings;
  const how = `Node ${node}, ${connections} connections, medians of ${rounds} windows of ${ms} ms in turns.\n`;
  const tables = Object.entries(results).flatMap(([name, work]) => [tableOf(name, work), multiplesTableOf(name, work)]);
  if (streams) tables.push(streamsTable(clients, streams));
  await write('table.md', [how, ...tables, numbersTable(numbers)].join('\n'));
  for (const [name, work] of Object.entries(results)) {
    if (work.limit) await write(`${name.replaceAll(/\W+/g, '-')}.svg`, plotOf(name, work));
  }
}
