import type { BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../support/launch-chromium.js';
import type { Engine, EnginePage } from './engine.js';

export async function startChromium(): Promise<Engine> {
  const browser = await launchChromium();
  let context: BrowserContext | undefined;
  return {
    visit: async (view) => {
      // The pages of the last visitor would go on polling.
      await context?.close();
      context = await browser.newContext({ viewport: view, locale: 'en-US', reducedMotion: 'reduce' });
      return pageOf(await context.newPage());
    },
    close: () => browser.close(),
  };
}

const pageOf = (page: Page): EnginePage => ({
  goto: async (url) => void (await page.goto(url)),
  reload: async () => void (await page.reload()),
  evaluate: (read) => page.evaluate(read),
  click: (x, y) => page.mouse.click(x, y),
  press: (key) => page.keyboard.press(key),
  screenshot: async () => (await page.screenshot()).toString('base64'),
  openTab: async () => pageOf(await page.context().newPage()),
});
