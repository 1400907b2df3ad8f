// How long a visitor waits from the tap on the button until the code is drawn, in Chromium with NODE_ENV=production.
//   npm run bench:tap [-- --rounds 10]
// Requires a build. Cold: a first visit with an empty cache, 400 kbit/s with 400 ms of latency, and a CPU that is six times slower.
// Warm: a second visit at 400 ms of latency, when the cached files are older than five minutes. The sequencer answers at once.
// Prints the median and the extremes, and the requests from the tap to the code.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { startChild } from './process.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(values.rounds);

const outfile = path.join(import.meta.dirname, '../node_modules/.cache/launch-chromium.mjs');
await mkdir(path.dirname(outfile), { recursive: true });
const entryPoints = [path.join(import.meta.dirname, '../test/browser/support/launch-chromium.ts')];
await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
const { launchChromium } = await import(outfile);

const throttles = {
  cold: { latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000, cpu: 6 },
  warm: { latency: 400, downloadThroughput: -1, uploadThroughput: -1, cpu: 1 },
};

/** Notes when the finger touches the button and when the first frame with a code has been drawn. */
const observer = () => {
  addEventListener('touchstart', () => (globalThis.tapMs = performance.now()), { capture: true, once: true });
  const look = () => {
    const state = document.querySelector('intent-button')?.shadowRoot?.querySelector('dialog')?.dataset.state;
    if (state === 'waiting') globalThis.codeMs = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

async function visit(context, address, throttle) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await page.addInitScript(observer);
  await page.goto(address, { waitUntil: 'networkidle' });
  const { cpu, ...network } = throttle;
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpu });
  const requests = [];
  page.on('requestfinished', (request) => requests.push(request));
  await page.locator('intent-button').tap();
  await page.waitForFunction('globalThis.codeMs');
  const ms = await page.evaluate('codeMs - tapMs');
  const names = [];
  for (const request of requests) {
    const response = await request.response();
    const isCached = response.fromServiceWorker() || (await request.sizes()).responseHeadersSize === 0;
    const { pathname } = new URL(request.url());
    if (!pathname.endsWith('/events')) names.push(`${request.method()} ${pathname}${isCached ? ' (cache)' : ''}`);
  }
  await page.close();
  return { ms, requests: names };
}

const server = startChild('./tap-server.mjs', [], { env: { ...process.env, NODE_ENV: 'production' } });
const browser = await launchChromium();
try {
  const address = `http://127.0.0.1:${await server.call('start')}/`;
  for (const [name, throttle] of Object.entries(throttles)) {
    const visits = [];
    for (let round = 0; round < rounds; round += 1) {
      const context = await browser.newContext({ hasTouch: true, viewport: { width: 390, height: 780 } });
      await context.setExtraHTTPHeaders({ 'X-Forwarded-Proto': 'https' });
      if (name === 'warm') await visit(context, address, { ...throttle, latency: 0 });
      visits.push(await visit(context, address, throttle));
      await context.close();
    }
    const sorted = visits.map(({ ms }) => Math.round(ms)).toSorted((one, other) => one - other);
    const median = (sorted[Math.floor((rounds - 1) / 2)] + sorted[Math.ceil((rounds - 1) / 2)]) / 2;
    console.log(`${name}: ${median} ms (${sorted[0]} to ${sorted.at(-1)}); ${visits.at(-1).requests.join(', ')}`);
  }
} finally {
  await browser.close();
  server.stop();
}
