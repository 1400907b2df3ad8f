import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { medianOf, ratioOf } from './measure.mjs';

const short = (value) => (value === undefined ? '' : value < 0.1 ? value.toFixed(3) : value.toFixed(2));

const columns = [
  ['CPU us', (samples) => medianOf(samples).toFixed(1)],
  ['x limit', (samples, all) => short(ratioOf(samples, all.limit))],
  ['x usual', (samples, all) => short(ratioOf(samples, all.usual))],
  ['x hello-world', (samples, all) => short(ratioOf(samples, all['hello-world']))],
  ['per second', (samples) => medianOf(samples, 'perSecond').toFixed(0)],
  ['p50 ms', (samples) => medianOf(samples, 'p50Ms').toFixed(2)],
  ['p99 ms', (samples) => medianOf(samples, 'p99Ms').toFixed(2)],
  ['RSS MiB', (samples) => medianOf(samples, 'rssMiB').toFixed(0)],
  ['busy', (samples) => `${(medianOf(samples, 'busy') * 100).toFixed(0)}%`],
  ['calls upstream', (samples) => Number(medianOf(samples, 'upstreamCalls').toPrecision(2)).toString()],
];

export const table = (head, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map((_cell, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')}\n`;
};

/** A Markdown table of the results of one workload. */
export function tableOf(name, results) {
  const shown = columns.filter(([title]) => !title.startsWith('x ') || results[title.slice(2)]);
  const rows = Object.entries(results).map(([variant, samples]) => [
    variant,
    ...shown.map(([, cell]) => cell(samples, results)),
  ]);
  return table([name, ...shown.map(([title]) => title)], rows);
}

/** The measured value of each target; empty for variants that were not measured. */
export function measuredTargets(name, { targets }, results) {
  return targets.flatMap(({ variant, of, key = 'cpuUs', atMost }) => {
    const samples = results[variant];
    const value = of ? ratioOf(samples, results[of], key) : samples && medianOf(samples, key);
    if (value === undefined) return [];
    const what = [key === 'cpuUs' ? 'CPU' : key, of && `of ${of}`].filter(Boolean).join(' ');
    return [{ name: `${name}: ${variant}, ${what}`, value, atMost, isReached: value <= atMost }];
  });
}

export function targetsTable(targets) {
  const rows = targets.map(({ name, value, atMost, isReached }) => [
    name,
    short(value),
    short(atMost),
    isReached ? 'yes' : 'no',
  ]);
  return table(['target', 'measured', 'at most', 'reached'], rows);
}

/** A bar chart of the CPU of a request as an SVG image. Bars that are too long are cut. */
function barChart(name, results) {
  const entries = Object.entries(results).map(([variant, samples]) => ({
    variant,
    times: ratioOf(samples, results.limit) ?? 1,
    cpuUs: medianOf(samples),
  }));
  const [left, width, row] = [270, 330, 26];
  const longest = Math.min(8, Math.max(...entries.map(({ times }) => times)));
  const bars = entries.map(({ variant, times, cpuUs }, index) => {
    const y = 40 + index * row;
    const length = (Math.min(times, longest) / longest) * width;
    const colour = variant.startsWith('ours') ? '#2563eb' : '#94a3b8';
    const text = `${times.toFixed(2)} x${times > longest ? ', cut' : ''} (${cpuUs.toFixed(0)} us)`;
    return `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${variant}</text>
<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="18" rx="3" fill="${colour}"/>
<text x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${text}</text>`;
  });
  const height = 40 + entries.length * row + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 ${height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="780" height="${height}" fill="#fff"/>
<text x="16" y="22" font-weight="600">${name}: CPU of a request, as a multiple of the limit</text>
${bars.join('\n')}
</svg>
`;
}

/** A table of the event streams. */
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

/** Writes the measurements to a folder. */
export async function writeResults(folder, { settings, results, targets, clients, streams }) {
  await mkdir(folder, { recursive: true });
  const write = (name, text) => writeFile(path.join(folder, name), text);
  const { node } = process.versions;
  await write('results.json', `${JSON.stringify({ node, settings, results, clients, streams }, undefined, 2)}\n`);
  const { rounds, ms, connections } = settings;
  const how = `Node ${node}, ${connections} connections, medians of ${rounds} windows of ${ms} ms in turns.\n`;
  const tables = Object.entries(results).map(([name, work]) => tableOf(name, work));
  if (streams) tables.push(streamsTable(clients, streams));
  await write('table.md', [how, ...tables, targetsTable(targets)].join('\n'));
  for (const [name, work] of Object.entries(results)) {
    if (work.limit) await write(`${name.replaceAll(/\W+/g, '-')}.svg`, barChart(name, work));
  }
}

const colours = ['#2563eb', '#94a3b8', '#d97706', '#0f766e'];

/** The step and the end of an axis up to `value`: at most five round steps. */
function stepsOf(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  const step = [0.2, 0.5, 1, 2].map((times) => times * size).find((each) => value / each <= 5);
  return { step, end: Math.ceil(value / step) * step };
}

/**
 * A line chart as an SVG image. Both axes start at 0.
 * @param series by name, a value for each of `xs`
 */
export function lineChart({ title, xs, xTitle, series }) {
  const [width, height] = [780, 260];
  const [left, right, top, bottom] = [70, 150, 40, 40];
  const lines = Object.entries(series);
  const { step, end } = stepsOf(Math.max(...lines.flatMap(([, values]) => values)));
  const xEnd = xs.at(-1);
  const xOf = (x) => (left + (x / xEnd) * (width - left - right)).toFixed(1);
  const yOf = (y) => (height - bottom - (y / end) * (height - top - bottom)).toFixed(1);
  const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" ${more}>${words}</text>`;
  const rows = Array.from({ length: Math.round(end / step) + 1 }, (_, n) => n * step).map((value) => {
    const rule = `<path d="M${left} ${yOf(value)}H${width - right}" stroke="#e2e8f0"/>`;
    return rule + text(left - 8, Number(yOf(value)) + 4, Number(value.toPrecision(3)), 'text-anchor="end"');
  });
  const marks = [0, 0.5, 1].map((share) =>
    text(xOf(share * xEnd), height - bottom + 18, (share * xEnd).toLocaleString('en'), 'text-anchor="middle"'),
  );
  const drawn = lines.map(([name, values], index) => {
    const points = values.map((value, n) => `${xOf(xs[n])} ${yOf(value)}`).join('L');
    const label = text(width - right + 8, top + 14 + index * 20, name, `fill="${colours[index]}"`);
    return `<path d="M${points}" fill="none" stroke="${colours[index]}" stroke-width="1.5"/>\n${label}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="${width}" height="${height}" fill="#fff"/>
${text(16, 22, title, 'font-weight="600"')}
${[...rows, ...marks, text((left + width - right) / 2, height - 6, xTitle, 'text-anchor="middle"'), ...drawn].join('\n')}
</svg>
`;
}
