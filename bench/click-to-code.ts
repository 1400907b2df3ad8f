// How long it takes from the click to a code that can be scanned: site, sequencer and browser on one machine.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { generateKey, intentRouter } from 'express-intents';
import { startSequencer } from 'express-intents/testing';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../test/browser/support/launch-chromium.js';

const rounds = 30;

const page = `<!doctype html><meta charset="utf-8"><title>Pay</title><script type="module" src="/page.js"></script><div id="pay"></div>`;
const script = `import { elements } from '/intent/v1/elements.js';
elements.create('button', { mode: 'payment', order: 42 }).button.mount('#pay');`;

const sequencer = await startSequencer();
const router = intentRouter({
  sequencerUrl: sequencer.url,
  verifierSecret: generateKey().secret,
  destination: generateKey().publicKey,
  domain: 'shop.example',
  payment: () => ({ amount: '4.50', currency: 'usd' }),
});
const app = express();
app.use(router);
app.get('/', (_req, res) => void res.send(page));
app.get('/page.js', (_req, res) => void res.type('js').send(script));
const server = createServer(app);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const browser = await launchChromium();
try {
  // The first page also pays for what every program does once.
  await measure(browser, origin);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measure(browser, origin));
  times.sort((one, other) => one - other);
  const at = (share: number): string => `${(times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1)} ms`;
  console.log(`click to code, ${rounds} new pages, Chromium ${browser.version()}, Node ${process.versions.node}`);
  console.log(`median ${at(0.5)}, fastest ${at(0)}, 90% within ${at(0.9)}`);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await router.close();
  await sequencer.close();
}

/** Milliseconds from the click until the code has been painted, on a page nobody has used before. */
async function measure(browser: Browser, origin: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const tab = await context.newPage();
    await tab.goto(origin);
    await tab.locator('intent-button [part~="button"]').waitFor();
    return await tab.evaluate(clickAndWait);
  } finally {
    await context.close();
  }
}

/** Runs in the page. */
async function clickAndWait(): Promise<number> {
  const root = document.querySelector('intent-button')?.shadowRoot;
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const startedAt = performance.now();
  root?.querySelector<HTMLElement>('[part~="button"]')?.click();
  while (!root?.querySelector('[part~="code"] svg')?.getBoundingClientRect().width) await nextFrame();
  // The frame it is in is on the screen when the next one begins.
  await nextFrame();
  return performance.now() - startedAt;
}
