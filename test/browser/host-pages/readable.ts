import type { EnginePage, View } from '../engines/engine.js';
import { appeared, begin, clickPart, reached } from '../engines/engine-checkout.js';
import { event } from '../support/checkout.js';
import type { VisitHostPage } from './use-host-pages.js';

/** For each part but the title of a payment, which is for screen readers: the number of lines of each word in it, whether it is cut off, and whether the visitor can scroll to it. */
const measure = (page: EnginePage): Promise<{ broken: string[]; unreachable: string[] }> =>
  page.evaluate(`(() => {
    const dialog = document.querySelector('intent-button').shadowRoot.querySelector('dialog');
    const frame = dialog.getBoundingClientRect();
    const broken = [];
    const unreachable = [];
    for (const part of dialog.querySelectorAll('[part]:not([part="announcement"], [part="title"])')) {
      const box = part.getBoundingClientRect();
      if (!box.height) continue;
      const top = box.top - frame.top + dialog.scrollTop;
      if (top < 0 || top + box.height > dialog.scrollHeight + 1) unreachable.push(part.getAttribute('part'));
      const text = part.firstChild;
      if (text?.nodeType !== 3) continue;
      // An amount has spaces, which must not break either.
      const words = part.getAttribute('part') === 'amount' ? [text.data] : text.data.match(/\\S+/g) ?? [];
      for (const word of words) {
        const range = document.createRange();
        range.setStart(text, text.data.indexOf(word));
        range.setEnd(text, text.data.indexOf(word) + word.length);
        const { left, right } = range.getBoundingClientRect();
        if (range.getClientRects().length > 1 || left < box.left - 1 || right > box.right + 1) broken.push(word);
      }
    }
    if (frame.top < -1 || frame.bottom > innerHeight + 1) unreachable.push('dialog');
    return { broken, unreachable };
  })()`);

const views: [string, View][] = [
  ['a desk', { width: 1000, height: 720 }],
  ['a small phone', { width: 320, height: 568 }],
  ['a small phone on its side', { width: 568, height: 320 }],
];

/** That the visitor can read every state of the dialog. */
export function readableTests(visit: VisitHostPage): void {
  test.each(views)('on %s no word or amount breaks, and everything can be reached', async (_name, view) => {
    const page = await visit({ view, lang: 'de', options: { order: 'rupiah', walletUrl: 'https://wallet.example/' } });
    await begin(page);
    await appeared(page);
    expect(await measure(page)).toEqual({ broken: [], unreachable: [] });
  });

  test.each(views)('on %s everything in a problem can be reached', async (_name, view) => {
    const script = `button.on('invoke', () => { throw new Error('no basket'); });`;
    const page = await visit({
      view,
      lang: 'de',
      options: { payee: 'A rather long name of a shop '.repeat(4) },
      script,
    });
    await clickPart(page, 'button');
    await reached(page, 'problem');
    await appeared(page);
    expect(await measure(page)).toEqual({ broken: [], unreachable: [] });
    await page.evaluate(
      `document.querySelector('intent-button').shadowRoot.querySelector('[part="close"]').scrollIntoView()`,
    );
    await clickPart(page, 'close');
    await event(page, 'cancel');
  });
}
