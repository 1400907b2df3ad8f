import { eventually } from '../../support/eventually.js';
import { type ButtonOptions, buttonScript } from '../support/checkout.js';
import type { EnginePage } from './engine.js';

// The counterpart of ../support/checkout.ts for pages of any engine.

/** Records violations of the policy, errors, and the last client secret. */
const watch = `
addEventListener('securitypolicyviolation', ({ effectiveDirective }) => note('violation', effectiveDirective));
addEventListener('error', ({ message }) => note('fault', message));
const ownFetch = fetch;
globalThis.fetch = async (...request) => {
  const response = await ownFetch(...request);
  if (String(request[0]).endsWith('/intent')) {
    response.clone().json().then((created) => { globalThis.secret = created.client_secret; }, () => undefined);
  }
  return response;
};
`;

/** As `buttonScript`, and records violations and errors. */
export const engineScript = (options: ButtonOptions = {}, more = ''): string => buttonScript(options, watch + more);

const partOf = (name: string): string =>
  `document.querySelector('intent-button')?.shadowRoot.querySelector('[part~="${name}"]')`;

/** The rectangle of a visible part, or null. */
const boxOf = (page: EnginePage, name: string): Promise<DOMRect | null> =>
  page.evaluate(`(() => {
    const element = ${partOf(name)};
    if (!element || getComputedStyle(element).visibility === 'hidden') return null;
    const { x, y, width, height } = element.getBoundingClientRect();
    return width && height ? { x, y, width, height } : null;
  })()`);

/** Clicks a part as soon as it is visible. */
export async function clickPart(page: EnginePage, name: string): Promise<void> {
  let box: DOMRect | null = null;
  await eventually(`the part ${name} is visible`, async () => {
    box = await boxOf(page, name);
    return box !== null;
  });
  const { x, y, width, height } = box as unknown as DOMRect;
  await page.click(x + width / 2, y + height / 2);
}

export const textOf = (page: EnginePage, name: string): Promise<string> =>
  page.evaluate(`${partOf(name)}.textContent.trim()`);

/** Resolves once the dialog is in this state. */
export function reached(page: EnginePage, state: string): Promise<void> {
  return eventually(async () => {
    expect(await page.evaluate(`${partOf('dialog')}?.dataset.state ?? ''`)).toBe(state);
  });
}

/** Resolves once the dialog is in its place, no longer translucent. */
export function appeared(page: EnginePage): Promise<void> {
  return eventually('the dialog has appeared', () =>
    page.evaluate(`(() => {
      // The animation begins with the first frame that shows the dialog.
      globalThis.animationFrames ??= { shown: 0 };
      requestAnimationFrame(() => { globalThis.animationFrames.shown += 1; });
      const animations = ${partOf('dialog')}.getAnimations({ subtree: true });
      return globalThis.animationFrames.shown > 1 && !animations.some(({ animationName, playState }) => animationName === 'rise' && playState !== 'finished');
    })()`),
  );
}

/** The client secret of the last created intent other than `previous`. */
async function secretOf(page: EnginePage, previous = ''): Promise<string> {
  let secret = '';
  await eventually('an intent is created', async () => {
    secret = await page.evaluate(`globalThis.secret ?? ''`);
    return secret !== '' && secret !== previous;
  });
  return secret;
}

/** Clicks the button. @returns the client secret, once its code is on the screen */
export async function begin(page: EnginePage): Promise<string> {
  await clickPart(page, 'button');
  const secret = await secretOf(page);
  await reached(page, 'waiting');
  return secret;
}
