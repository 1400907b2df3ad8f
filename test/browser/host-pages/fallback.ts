import { textOf as guide } from '../../docs/guides.js';
import { eventually } from '../../support/eventually.js';
import type { EnginePage } from '../engines/engine.js';
import type { VisitHostPage } from './use-host-pages.js';

/** The styles of docs/button.md. */
const css = /<style>\n([\s\S]*?:not\(:defined\)[\s\S]*?)<\/style>/.exec(guide('docs/button.md'))?.[1] ?? '';

const body = `
<p>A line <b>with</b> the button <intent-button label="Pay $4.50"><a slot="fallback" href="/nothing">Pay $4.50</a></intent-button> in it</p>
<p id="below">Below</p>`;

/** The places and sizes, and whether the link is at its place. */
const measure = (page: EnginePage): Promise<{ boxes: number[][]; hasLink: boolean }> =>
  page.evaluate(`(() => {
    const { x, y, width, height } = document.querySelector('intent-button').getBoundingClientRect();
    const hasLink = document.elementFromPoint(x + width / 2, y + height / 2)?.localName === 'a';
    const boxes = [...document.querySelectorAll('b, intent-button, #below')].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    });
    return { boxes, hasLink };
  })()`);

/** What a page shows without elements.js. */
export function fallbackTests(visit: VisitHostPage): void {
  test('a link stands in for the button until the script has arrived, and nothing moves then', async () => {
    const module = `globalThis.seen = []; globalThis.upgrade = () => import('/intent/v1/elements.js');`;
    const page = await visit({ body, css, module });
    await eventually('the page has its script', () => page.evaluate('!!globalThis.upgrade'));
    const before = await measure(page);
    await page.evaluate('void upgrade()');
    await eventually('the element is defined', () => page.evaluate(`!!customElements.get('intent-button')`));
    const after = await measure(page);
    expect(before).toEqual({ ...after, hasLink: true });
    expect(after.hasLink).toBe(false);
  });
}
