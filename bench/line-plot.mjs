const [width, height] = [780, 260];
const [left, right, top, bottom] = [70, 150, 40, 40];
const colours = ['#2563eb', '#94a3b8', '#d97706', '#0f766e'];

/** The round number over `value` at which the axis ends, and that goes into it a few times. */
function stepsOf(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  const step = [0.2, 0.5, 1, 2].map((times) => times * size).find((each) => value / each <= 5);
  return { step, end: Math.ceil(value / step) * step };
}

/**
 * Lines over what was done, as SVG.
 * @param series by name, a value for each of `xs`; the axis begins with 0
 */
export function linePlot({ title, xs, xTitle, series }) {
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
