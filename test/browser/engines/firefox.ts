import puppeteer, { type Page } from 'puppeteer-core';
import type { Engine, EnginePage, View } from './engine.js';
import { firefoxPath } from './installed.mjs';

/** Firefox through WebDriver BiDi. */
export async function startFirefox(): Promise<Engine> {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: firefoxPath() ?? 'firefox-esr',
    headless: true,
    timeout: 120_000,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-US', 'ui.prefersReducedMotion': 1 },
  });
  return {
    visit: async (view) => {
      const context = await browser.createBrowserContext();
      return pageOf(await context.newPage(), view);
    },
    close: () => browser.close(),
  };
}

async function pageOf(page: Page, view: View): Promise<EnginePage> {
  await page.setViewport(view).catch((error: Error) => {
    // Firefox ESR sets the size, and rejects the orientation, which it does not know.
    if (!/setScreenOrientationOverride/.test(error.message)) throw error;
  });
  return {
    goto: async (url) => void (await page.goto(url)),
    reload: async () => void (await page.reload()),
    evaluate: async <Result>(read: (() => Result | Promise<Result>) | string) => (await page.evaluate(read)) as Result,
    click: (x, y) => page.mouse.click(x, y),
    press: (key) => page.keyboard.press(key),
    screenshot: () => page.screenshot({ encoding: 'base64' }),
    openTab: async () => pageOf(await page.browserContext().newPage(), view),
  };
}
