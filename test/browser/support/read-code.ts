import { createRequire } from 'node:module';
import type jsqr from 'jsqr';
import type { Browser, Page } from 'playwright-core';

const reader = createRequire(import.meta.url).resolve('jsqr');

/** Reads the QR code from a screenshot of the page; undefined without a code. */
export async function readCode(page: Page): Promise<string | undefined> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The browser has closed.');
  return decodeCode(browser, (await page.screenshot()).toString('base64'));
}

/** Reads the QR code from a picture in PNG as base64; undefined without a code. */
export async function decodeCode(browser: Browser, png: string): Promise<string | undefined> {
  // Decoded in a page of its own: the site's policy does not apply there, and a browser is much faster than the test process.
  const decoder = await browser.newPage();
  try {
    await decoder.addScriptTag({ path: reader });
    return await decoder.evaluate(readPng, png);
  } finally {
    await decoder.close();
  }
}

/** Runs in the decoder page. */
async function readPng(base64: string): Promise<string | undefined> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  if (!canvas) throw new Error('The browser has no canvas.');
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const { jsQR } = globalThis as unknown as { jsQR: typeof jsqr.default };
  // Many cameras cannot read light on dark. jsQR reads an empty code in some pictures without one.
  return jsQR(data, width, height, { inversionAttempts: 'dontInvert' })?.data || undefined;
}
