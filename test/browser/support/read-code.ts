import jsqr from 'jsqr';
import type { Page } from 'playwright-core';

/** What a camera that is held in front of the screen reads; undefined where there is no code to be seen. */
export async function readCode(page: Page): Promise<string | undefined> {
  const png = await page.screenshot();
  // The browser itself decodes the picture, on a page of its own, so that the site's policy has no say in it.
  const desk = await page.context().newPage();
  try {
    const { rgba, width, height } = await desk.evaluate(decodePng, png.toString('base64'));
    const pixels = new Uint8ClampedArray(Buffer.from(rgba, 'base64'));
    // Many cameras cannot read light on dark, so neither does this one.
    return jsqr.default(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data;
  } finally {
    await desk.close();
  }
}

/** Runs in a page. */
async function decodePng(base64: string): Promise<{ rgba: string; width: number; height: number }> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  canvas?.drawImage(image, 0, 0);
  const { data } = canvas?.getImageData(0, 0, width, height) ?? { data: new Uint8ClampedArray() };
  let text = '';
  for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
  return { rgba: btoa(text), width, height };
}
