import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface BuildScript {
  readonly maxGzipBytes: number;
  checkSize(text: string | Uint8Array, limit?: number): number;
}

const script = (await import(new URL('../../src/browser/bundle.mjs', import.meta.url).href)) as BuildScript;
const built = (name: string): string =>
  readFileSync(new URL(`../../src/browser/built/${name}`, import.meta.url), 'utf8');

describe('what pages load', () => {
  test('is at most 10,240 bytes as gzip', () => {
    expect(script.maxGzipBytes).toBe(10_240);
    expect(script.checkSize(built('elements.js'))).toBeLessThanOrEqual(10_240);
  });

  test('is refused by the build when it is heavier', () => {
    const noise = randomBytes(10_240).toString('base64');
    expect(() => script.checkSize(randomBytes(10_240))).toThrow('The limit is 10240.');
    expect(() => script.checkSize(noise, 100)).toThrow(/has \d+ bytes with gzip\. The limit is 100\./);
  });

  test('runs no text as code, sets no markup and reads no cookie', () => {
    for (const name of ['elements.js', 'ask-user.js', 'translations.js', 'portable-ed25519.js']) {
      expect(built(name)).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.cookie/,
      );
    }
  });

  test('can be imported where there is no page', async () => {
    const { elements } = await import(new URL('../../src/browser/built/elements.js', import.meta.url).href);
    expect(Object.keys(elements)).toEqual(['create']);
  });
});
