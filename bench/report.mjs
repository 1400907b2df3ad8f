import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { differenceOf, isDisturbed, maxOthers, medianOf, ratioOf } from './statistics.mjs';

const short = (value) => (value < 0.1 ? value.toFixed(3) : value.toFixed(2));
const percent = (value) => (Number.isFinite(value) ? `${(value * 100).toFixed(0)}%` : '');
const disturbed = '(busy)';

/** Prints a value that depends on rows; not if other programs disturbed one of them, unless `busy` is set. */
function judged(text, rows, { busy }) {
  if (!rows.some(({ samples }) => isDisturbed(samples))) return text;
  return busy ? `${text} ${disturbed}` : 'refused';
}

/** The ratio to another variant; for a variant with `createServer` to one with `createServer`, if both exist. */
function timesCell(of) {
  return (name, results, options) => {
    const same = name.endsWith('createServer') ? `${of}, createServer` : of;
    const [row, other] = [results[name], results[same] ?? results[of]];
    return judged(short(ratioOf(row.samples, other.samples)), [row, other], options);
  };
}

const medianCell = (key, format) => (name, results) => format(medianOf(results[name].samples, key));
const fixed = (digits) => (value) => value.toFixed(digits);

const columns = [
  ['CPU us', medianCell('cpuUs', fixed(1))],
  ['x limit', timesCell('limit')],
  ['x one middleware', timesCell('one middleware')],
  ['GC, main thread', (name, results) => percent(results[name].warmUp.gc)],
  ['other threads (JIT, GC)', medianCell('otherThreads', percent)],
  ['KiB allocated', (name, results) => (results[name].allocatedBytes / 1024 || undefined)?.toFixed(1) ?? ''],
  ['per second', medianCell('perSecond', fixed(0))],
  ['p50 ms', medianCell('p50Ms', fixed(2))],
  ['p99 ms', medianCell('p99Ms', fixed(2))],
  ['RSS MiB', medianCell('rssMiB', fixed(0))],
  ['calls upstream', medianCell('upstreamCalls', (value) => Number(value.toPrecision(2)).toString())],
  ['other programs', medianCell('others', percent)],
  ['warm-up', (name, results) => warmUpCell(results[name].warmUp)],
];

const warmUpCell = ({ tookMs, isStable }) => `${(tookMs / 1000).toFixed(0)} s${isStable ? '' : ', not stable'}`;

export const table = (head, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map((_cell, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')}\n`;
};

/** A Markdown table of the results of one workload. */
export function tableOf(name, results, options) {
  const shown = columns.filter(([title]) => !title.startsWith('x ') || results[title.slice(2)]);
  const rows = Object.keys(results).map((variant) => [
    variant,
    ...shown.map(([, cell]) => cell(variant, results, options)),
  ]);
  return table([name, ...shown.map(([title]) => title)], rows);
}

/** A table of imports. */
export function importsTable(results) {
  const columns = [
    ['ms', medianCell('importMs', fixed(1))],
    ['RSS MiB', medianCell('rssMiB', fixed(1))],
    ['other programs', medianCell('others', percent)],
  ];
  const rows = Object.keys(results).map((name) => [name, ...columns.map(([, cell]) => cell(name, results))]);
  return table(['import', ...columns.map(([title]) => title)], rows);
}

const formats = {
  cpuUs: (us) => `${us.toFixed(1)} us`,
  importMs: (ms) => `${ms.toFixed(1)} ms`,
};
const signed = (format) => (value) => `${value < 0 ? '-' : '+'} ${format(Math.abs(value))}`;

/** A row for each goal of a workload; none for variants that were not measured. */
export function goalRows({ goals }, results, options) {
  return goals.flatMap(({ work, variant, of, minus, key = 'cpuUs', atMost }) => {
    const rows = [variant, of ?? minus].filter(Boolean).map((name) => results[name]);
    if (rows.includes(undefined)) return [];
    const [samples, others] = rows.map((row) => row.samples);
    const [value, format] = of
      ? [ratioOf(samples, others, key), short]
      : minus
        ? [differenceOf(samples, others, key), signed(formats[key])]
        : [medianOf(samples, key), formats[key]];
    const measured = judged(format(value), rows, options);
    return [
      [work, `at most ${format(atMost)}`, measured, measured === 'refused' ? '' : value <= atMost ? 'yes' : 'no'],
    ];
  });
}

export const goalsTable = (rows) => table(['work', 'goal', 'measured', 'reached'], rows);

/** Names the rows that were measured while other programs used the machine; undefined if there are none. */
export function disturbanceOf(results, { busy }) {
  const rows = Object.entries(results).flatMap(([name, variants]) =>
    Object.entries(variants)
      .filter(([, { samples }]) => isDisturbed(samples))
      .map(([variant]) => `${name}: ${variant}`),
  );
  if (rows.length === 0) return undefined;
  const what = `Other programs used more than ${percent(maxOthers)} of the cores during ${rows.length} rows: ${rows.join('; ')}.`;
  return busy
    ? `${what} Their ratios are marked with ${disturbed}.\n`
    : `${what} Their ratios are refused. Stop the other programs and repeat the run, or set --busy to print marked ratios.\n`;
}

/** A bar chart of the CPU of a request as an SVG image. Bars that are too long are cut. */
function barChart(name, results) {
  const entries = Object.entries(results).map(([variant, { samples }]) => ({
    variant,
    times: ratioOf(samples, results.limit.samples),
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

/** Writes the measurements to a folder: the printed text, all samples, and a chart of each workload that has a limit. */
export async function writeResults(folder, { text, busy, ...measured }) {
  await mkdir(folder, { recursive: true });
  const write = (name, text) => writeFile(path.join(folder, name), text);
  await write('results.json', `${JSON.stringify(measured, undefined, 2)}\n`);
  await write('table.md', text);
  for (const [name, work] of Object.entries(measured.results)) {
    if (!work.limit || (!busy && Object.values(work).some(({ samples }) => isDisturbed(samples)))) continue;
    await write(`${name.replaceAll(/\W+/g, '-')}.svg`, barChart(name, work));
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
