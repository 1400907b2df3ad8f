import { mkdir, writeFile } from 'node:fs/promises';

const columns = [
  ['CPU us', ({ cpuUs }) => cpuUs.toFixed(1)],
  ['x limit', ({ timesLimit }) => timesLimit?.toFixed(2)],
  ['x usual', ({ timesUsual }) => timesUsual && (timesUsual < 0.1 ? timesUsual.toFixed(3) : timesUsual.toFixed(2))],
  ['a second', ({ perSecond }) => perSecond.toFixed(0)],
  ['p50 ms', ({ p50Ms }) => p50Ms.toFixed(2)],
  ['p99 ms', ({ p99Ms }) => p99Ms.toFixed(2)],
  ['RSS MiB', ({ rssMiB }) => rssMiB.toFixed(0)],
  ['busy', ({ busy }) => `${(busy * 100).toFixed(0)}%`],
  ['calls upstream', ({ upstreamCalls }) => Number(upstreamCalls.toPrecision(2)).toString()],
];

/** A Markdown table of one work. */
export function tableOf(name, variants) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rows = Object.entries(variants).map(([variant, result]) =>
    line([variant, ...columns.map(([, cell]) => cell(result) ?? '')]),
  );
  const head = [line([name, ...columns.map(([title]) => title)]), line(['---', ...columns.map(() => '---:')])];
  return `${[...head, ...rows].join('\n')}\n`;
}

/** Bars of what a request costs, in multiples of the limit. Those that are too long for the page say so. */
export function plotOf(name, variants) {
  const entries = Object.entries(variants).filter(([, { timesLimit }]) => timesLimit !== undefined);
  const [left, width, row] = [190, 430, 26];
  const longest = Math.min(6, Math.max(...entries.map(([, { timesLimit }]) => timesLimit)));
  const bars = entries.map(([variant, { timesLimit, cpuUs }], index) => {
    const y = 40 + index * row;
    const length = (Math.min(timesLimit, longest) / longest) * width;
    const colour = variant.startsWith('ours') ? '#2563eb' : '#94a3b8';
    const text = `${timesLimit.toFixed(2)} x${timesLimit > longest ? ' →' : ''} (${cpuUs.toFixed(0)} us)`;
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

/** Writes what was measured to bench/results/. Nothing in it tells of the machine but the version of Node. */
export async function writeResults(results, settings) {
  const folder = new URL('./results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const write = (name, text) => writeFile(new URL(name, folder), text);
  const { node } = process.versions;
  await write('results.json', `${JSON.stringify({ node, settings, results }, undefined, 2)}\n`);
  const { rounds, ms, connections } = settings;
  const how = `Node ${node}, ${connections} connections, medians of ${rounds} windows of ${ms} ms in turns.`;
  const tables = Object.entries(results).map(([name, variants]) => tableOf(name, variants));
  await write('table.md', `${how}\n\n${tables.join('\n')}`);
  for (const [name, variants] of Object.entries(results)) {
    await write(`${name.replaceAll(/\W+/g, '-')}.svg`, plotOf(name, variants));
  }
}
