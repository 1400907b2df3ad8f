import { createRequire } from 'node:module';
import type jsqr from 'jsqr';
import type { Page } from 'playwright-core';

const reader = createRequire(import.meta.url).resolve('jsqr');

/** Reads the QR code from a screenshot of the page; undefined without a code. */
export async function readCode(page: Page): Promise<string | undefined> {
  const png = await page.screenshot();
  // Decoded in a page of its own: the site's policy does not apply there, and a browser is much faster than the test process.
  const decoder = await page.context().browser()?.newPage();
  if (!decoder) throw new Error('The browser has closed.');
  try {
    await decoder.addScriptTag({ path: reader });
    return await decoder.evaluate(readPng, png.toString('base64'));
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
  // Many cameras cannot read light on dark.
  return jsQR(data, width, height, { inversionAttempts: 'dontInvert' })?.data;
}
