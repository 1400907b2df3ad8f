import type { EnginePage } from '../engines/engine.js';
import { clickPart, reached } from '../engines/engine-checkout.js';
import type { VisitHostPage } from './use-host-pages.js';

/** Keeps the dialog in a state without a clock. */
const script = `button.on('invoke', () => true);`;

const hostile = `
html { font-size: 62.5%; }
body * {
  font: italic 40px / 3 serif; font-variant: small-caps; letter-spacing: 9px; word-spacing: 30px; text-indent: 50px;
  text-transform: uppercase; text-align: right; text-shadow: 1px 1px red; white-space: nowrap; word-break: break-all;
  color: red; -webkit-text-fill-color: red; cursor: wait; -webkit-user-select: none; user-select: none; list-style: square;
  border-collapse: collapse; border-spacing: 9px; quotes: none; hyphens: auto; tab-size: 40;
}
`;

const loading = 'body.loading * { visibility: hidden; pointer-events: none; cursor: wait; }';

/** All computed styles of all elements in the shadow tree. */
const styles = (page: EnginePage): Promise<Record<string, Record<string, string>>> =>
  page.evaluate(`(() => {
    const result = {};
    const { shadowRoot } = document.querySelector('intent-button');
    for (const animation of shadowRoot.querySelector('dialog').getAnimations({ subtree: true })) animation.cancel();
    for (const element of shadowRoot.querySelectorAll('*')) {
      const computed = getComputedStyle(element);
      const name = Object.keys(result).length + ' ' + element.localName + ' ' + element.getAttribute('part');
      result[name] = Object.fromEntries([...computed].map((property) => [property, computed.getPropertyValue(property)]));
    }
    return result;
  })()`);

/** What the styles of the page change in the button and the dialog. */
export function pageStyleTests(visit: VisitHostPage): void {
  test('text styles of the page change nothing in the button and the dialog', async () => {
    const all: Record<string, Record<string, string>>[] = [];
    for (const css of ['', hostile]) {
      const page = await visit({ script, css });
      await clickPart(page, 'button');
      await reached(page, 'preparing');
      all.push(await styles(page));
    }
    const [plain = {}, styled = {}] = all;
    const changes = Object.entries(plain).flatMap(([name, computed]) =>
      Object.entries(computed)
        .filter(([property, value]) => styled[name]?.[property] !== value)
        .map(([property, value]) => `${name} ${property}: ${value} is ${styled[name]?.[property]}`),
    );
    expect(Object.keys(plain).length).toBeGreaterThan(20);
    expect(changes).toEqual([]);
  });

  test.each([
    ['', 255],
    ['html { color-scheme: dark; }', 0],
  ])('with %j the dialog has the color scheme of the page', async (css, expected) => {
    const page = await visit({ script, css });
    await clickPart(page, 'button');
    await reached(page, 'preparing');
    // As `rgb(255, 255, 255)` or `color(srgb 1 1 1)`.
    const [surface, text] = await page.evaluate<string[]>(`(() => {
      const { backgroundColor, color } = getComputedStyle(document.querySelector('intent-button').shadowRoot.querySelector('dialog'));
      return [backgroundColor, color];
    })()`);
    const lightness = (color = '') => Number(/[\d.]+/.exec(color)?.[0]) * (color.startsWith('rgb') ? 1 : 255);
    expect(Math.abs(lightness(surface) - expected)).toBeLessThan(64);
    expect(Math.abs(lightness(text) - expected)).toBeGreaterThan(191);
  });

  test('while the page is loading, the visitor can cancel in the dialog', async () => {
    const page = await visit({ script, css: loading });
    await clickPart(page, 'button');
    await reached(page, 'preparing');
    await page.evaluate(`document.body.classList.add('loading')`);
    await clickPart(page, 'close');
    expect(await page.evaluate(`document.querySelector('intent-button').shadowRoot.querySelector('dialog').open`)).toBe(
      false,
    );
  });

  test('the page can hide the button with its section, and place it', async () => {
    const css = '#pay { visibility: hidden; } intent-button { display: block; margin: 7px; }';
    const page = await visit({ css });
    const [visibility, display, margin] = await page.evaluate<string[]>(`(() => {
      const button = document.querySelector('intent-button');
      const { display, marginTop } = getComputedStyle(button);
      return [getComputedStyle(button.shadowRoot.querySelector('button')).visibility, display, marginTop];
    })()`);
    expect([visibility, display, margin]).toEqual(['hidden', 'block', '7px']);
  });
}
