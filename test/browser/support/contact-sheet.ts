import type { Browser } from 'playwright-core';

/** A picture and what it shows. */
export interface Picture {
  readonly name: string;
  readonly png: Buffer;
  readonly width: number;
}

/** Writes all pictures with their names into one file, for a person to look at. */
export async function writeContactSheet(browser: Browser, path: string, pictures: readonly Picture[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 2000, height: 1000 } });
  const figures = pictures.map(
    ({ name, png, width }) =>
      `<figure><figcaption>${name}</figcaption><img width="${Math.min(width, 480)}" src="data:image/png;base64,${png.toString('base64')}"></figure>`,
  );
  const style =
    'body{display:flex;flex-wrap:wrap;gap:16px;font:16px sans-serif}figure{margin:0}img{border:1px solid #888}';
  await page.setContent(`<style>${style}</style>${figures.join('')}`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}
