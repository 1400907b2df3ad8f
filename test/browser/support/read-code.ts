import { createRequire } from 'node:module';
import type jsqr from 'jsqr';
import type { Page } from 'playwright-core';

const reader = createRequire(import.meta.url).resolve('jsqr');

/** What a camera that is held in front of the screen reads; undefined where there is no code to be seen. */
export async function readCode(page: Page): Promise<string | undefined> {
  const png = await page.screenshot();
  // Read on a desk of its own: the site's policy has no say there, and a browser is much faster at it than a test.
  const desk = await page.context().browser()?.newPage();
  if (!desk) throw new Error('The browser is gone.');
  try {
    await desk.addScriptTag({ path: reader });
    return await desk.evaluate(readPng, png.toString('base64'));
  } finally {
    await desk.close();
  }
}

/** Runs on the desk. */
async function readPng(base64: string): Promise<string | undefined> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  if (!canvas) throw new Error('There is no canvas.');
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const { jsQR } = globalThis as unknown as { jsQR: typeof jsqr.default };
  // Many cameras cannot read light on dark, so neither does this one.
  return jsQR(data, width, height, { inversionAttempts: 'dontInvert' })?.data;
}
