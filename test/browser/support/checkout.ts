import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { readCode } from './read-code.js';

/** The options of `elements.create('button', options)`. */
export type ButtonOptions = Readonly<Record<string, unknown>>;

/** A module that mounts a recorded button in `#pay`. `more` runs before, with `button` in scope. */
export const buttonScript = (options: ButtonOptions = {}, more = '', elements = '/intent/v1/elements.js'): string => `
import { elements } from '${elements}';
import { note, record } from '/record.js';
const { button } = elements.create('button', ${JSON.stringify({ mode: 'payment', order: 42, ...options })});
record(button);
${more}
button.mount('#pay');
`;

/** A part of the element by name. */
export const part = (page: Page, name: string): Locator => page.locator(`intent-button [part~="${name}"]`);

/** The text of a part, once it has one. */
export async function textOf(page: Page, name: string): Promise<string> {
  const named = part(page, name);
  let text = '';
  await eventually(async () => {
    text = await named.evaluate((element: HTMLElement) => element.innerText.trim());
    expect(text).not.toBe('');
  });
  return text;
}

/** Holds the requests for a URL back. @returns lets them go on */
export async function hold(page: Page, url: string): Promise<() => void> {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(url, async (route) => {
    await held;
    // The page may have aborted the request.
    await route.continue().catch(() => undefined);
  });
  return () => letGo();
}

/** Resolves once the dialog is in one of these states. */
export async function state(page: Page, ...states: string[]): Promise<void> {
  const wanted = states.map((one) => `intent-button dialog[data-state="${one}"]`).join(', ');
  await page.locator(wanted).waitFor({ state: 'attached' });
}

/** Resolves once no dialog is open. */
export async function closed(page: Page): Promise<void> {
  await eventually(async () => expect(await page.locator('intent-button[data-open]').count()).toBe(0));
  expect(await page.locator('intent-button dialog[open]').count()).toBe(0);
}

/** Clicks the button and reads the code from a screenshot. */
export async function clickAndScan(page: Page): Promise<string> {
  await part(page, 'button').click();
  return scan(page);
}

/** Clicks the button and takes the code from the server's answer, which is faster than a screenshot. */
export async function begin(page: Page): Promise<string> {
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await part(page, 'button').click();
  const { client_secret: code } = (await (await answer).json()) as { client_secret: string };
  await state(page, 'waiting');
  return code;
}

/** The text of the code on the screen, once it is readable. */
export async function scan(page: Page): Promise<string> {
  await state(page, 'waiting');
  let code: string | undefined;
  await eventually(async () => {
    code = await readCode(page);
    expect(code).toBeDefined();
  });
  return code ?? '';
}

/** The client secret in a code, which can be a wallet link. */
export const secretOf = (code: string): string => code.slice(code.lastIndexOf('#') + 1);

/** The intent's id, derived independently of the element. */
export const idOf = (code: string): string => intentIdOf(secretOf(code));

/** An event of the button and its detail. */
export type Seen = [name: string, event: Record<string, unknown>];

/** A page of any engine. */
interface Evaluates {
  evaluate<Result>(read: () => Result): Promise<Result>;
}

/** The events so far. */
export const seen = (page: Evaluates): Promise<Seen[]> =>
  page.evaluate(() => (globalThis as unknown as { seen: Seen[] }).seen);

/** Waits for an event. @returns its detail */
export async function event(page: Evaluates, name: string): Promise<Record<string, unknown>> {
  let found: Seen | undefined;
  await eventually(async () => {
    found = (await seen(page)).find(([one]) => one === name);
    if (!found) throw new Error(`No event ${name}. Seen: ${JSON.stringify(await seen(page))}`);
  });
  return found?.[1] ?? {};
}
