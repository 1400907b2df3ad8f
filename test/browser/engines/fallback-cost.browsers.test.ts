import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { eventually } from '../../support/eventually.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { withoutEd25519 } from '../support/without-ed25519.js';
import { startChromium } from './chromium.js';
import type { Engine } from './engine.js';
import { startFirefox } from './firefox.js';
import { startWebKit } from './webkit.js';

// What the element does with Ed25519 is one operation for each code: it derives the id of the intent. This measures it with
// WebCrypto and with the fallback, prints a row for each engine, and checks only the results.

const { payload, id } = JSON.parse(
  readFileSync(new URL('../../vectors/vectors.json', import.meta.url), 'utf8'),
).payment;

/** Runs in the page. `performance.now` has a resolution of 1 ms in some engines, so calls of 200 ms are timed together. */
const measure = (prepare: string): string => `
${prepare}
const { deriveIntentId, loadPublicKeyOf } = await import('/measure/client-secret.js');
const { signal } = new AbortController();
const payload = Uint8Array.from(${JSON.stringify([...Buffer.from(payload, 'hex')])});
async function timed(leastMs) {
  const startedAt = performance.now();
  let [times, tookMs] = [0, 0];
  for (; times === 0 || tookMs < leastMs; times += 1) {
    await deriveIntentId(payload, await loadPublicKeyOf(signal));
    tookMs = performance.now() - startedAt;
  }
  return tookMs / times;
}
const firstMs = await timed(0);
await timed(200);
const laterMs = [];
for (let round = 0; round < 5; round += 1) laterMs.push(await timed(200));
const file = performance.getEntriesByType('resource').find(({ name }) => name.includes('portable-ed25519.'));
globalThis.measured = { id: await deriveIntentId(payload, await loadPublicKeyOf(signal)), firstMs, laterMs, bytes: file?.encodedBodySize ?? 0 };
`;

interface Measured {
  readonly id: string;
  /** Of the first call, which loads the fallback if it is needed. */
  readonly firstMs: number;
  readonly laterMs: readonly number[];
  /** Of the loaded fallback, as sent. */
  readonly bytes: number;
}

let site: StrictSite;
const rows: string[] = [];

beforeAll(async () => {
  const resolveDir = fileURLToPath(new URL('../../../src/browser/flow', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents: "export * from './client-secret.ts'; export * from './on-demand-files.ts';", resolveDir },
    // As in a bundle, which knows the addresses of its files.
    banner: { js: 'const intentSite = { load() {} };' },
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
    external: ['./portable-ed25519.js', '../dialog/intent-dialog.js'],
  });
  const served = outputFiles[0]?.text.replace('./portable-ed25519.js', '/intent/v1/portable-ed25519.js');
  site = await startStrictSite({
    before: (app) => void app.get('/measure/client-secret.js', (_req, res) => void res.type('js').send(served)),
  });
});

afterAll(() => {
  const head =
    '| engine | WebCrypto, ms | fallback, ms | its first use with loading, ms | its file, bytes |\n|---|---:|---:|---:|---:|';
  process.stdout.write(`\nThe id of an intent, in each engine:\n${head}\n${rows.join('\n')}\n`);
});

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

describe.each([
  ['Chromium', startChromium],
  ['Firefox', startFirefox],
  ['WebKit', startWebKit],
])('in %s', (name, start) => {
  let engine: Engine;
  let userAgent = '';

  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine?.close());

  async function run(prepare: string): Promise<Measured[]> {
    const results: Measured[] = [];
    for (let visitor = 0; visitor < 3; visitor += 1) {
      const page = await engine.visit({ width: 600, height: 400 });
      await page.goto(site.page({ script: measure(prepare) }));
      await eventually('the page has measured', () => page.evaluate('!!globalThis.measured'));
      results.push(await page.evaluate('globalThis.measured'));
      userAgent = await page.evaluate('navigator.userAgent');
    }
    return results;
  }

  test('the id of an intent is the same with WebCrypto and with the fallback', async () => {
    const [usual, without] = [await run(''), await run(`(${withoutEd25519})();`)];
    for (const result of [...usual, ...without]) expect(result.id).toBe(id);
    for (const { bytes } of without) expect(bytes).toBeGreaterThan(0);
    const version = /(?:Chrome|Firefox|Version)\/([\d.]+)/.exec(userAgent)?.[1];
    const isNative = usual.every(({ bytes }) => bytes === 0);
    // Firefox ESR has no export of public keys.
    if (name !== 'Firefox') expect(isNative).toBe(true);
    const usualMs = isNative ? median(usual.flatMap(({ laterMs }) => laterMs)).toFixed(2) : 'uses the fallback';
    const laterMs = median(without.flatMap((result) => result.laterMs)).toFixed(1);
    const firstMs = median(without.map((result) => result.firstMs)).toFixed(0);
    rows.push(`| ${name} ${version} | ${usualMs} | ${laterMs} | ${firstMs} | ${without[0]?.bytes} |`);
  });
});
