import type { Page } from 'playwright-core';
import { begin, buttonScript, closed, event, hold, idOf, part, state, textOf } from '../support/checkout.js';
import { status, visitWith } from '../support/intent-answers.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const isOffered = (page: Page, name: string): Promise<boolean> => part(page, name).isVisible();

describe('a retry', () => {
  test.each([
    ['the site refused the order', 409, { code: 'request_refused', detail: 'Sold out.' }, false],
    ['the sequencer refused the intent', 502, { code: 'intent_refused' }, false],
    ['middleware refused the request', 403, {}, false],
    ['the site had an error', 500, { code: 'internal_error' }, true],
    ['the rate limit was reached', 429, { code: 'rate_limited' }, true],
  ])('after %s (%i): %j, is offered: %s', async (_name, code, problem, isRetryOffered) => {
    const { page } = await visitWith(open, site.page({ script: buttonScript() }), [status(code, problem)]);
    await part(page, 'button').click();
    await state(page, 'problem');
    expect(await isOffered(page, 'retry')).toBe(isRetryOffered);
    const text = await textOf(page, 'status');
    if ('detail' in problem) expect(text).toBe('Sold out.');
    else expect(text).toContain('You were not charged.');
  });
});

test('an error after a payment does not claim that the visitor was not charged', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  visit.forgive(/status of 500/);
  const { page } = visit;
  await site.simulator.wallet('Ada').pay(await begin(page));
  await event(page, 'success');
  await closed(page);
  await page.route('**/intent', (route) => route.fulfill({ status: 500, json: { code: 'internal_error' } }));
  await part(page, 'button').click();
  await state(page, 'problem');
  expect(await textOf(page, 'status')).not.toContain('charged');
});

describe('an answer that is not from the router', () => {
  test.each([
    [403, /POST \/intent returned 403 text\/html.* CSRF middleware .*docs\/existing-app\.md/],
    [404, /POST \/intent returned 404 .* the mount path.*docs\/existing-app\.md/],
  ])('%i: the console names what to check, once', async (code, message) => {
    const answer = { status: code, contentType: 'text/html', body: '<h1>ForbiddenError: invalid csrf token</h1>' };
    const visit = await visitWith(open, site.page({ script: buttonScript() }), [
      (route) => route.fulfill(answer),
      (route) => route.fulfill(answer),
    ]);
    const { page } = visit;
    const warnings: string[] = [];
    page.on('console', (line) => line.type() === 'warning' && warnings.push(line.text()));
    await part(page, 'button').click();
    await state(page, 'problem');
    await part(page, 'close').click();
    await part(page, 'button').click();
    await state(page, 'problem');
    expect(warnings).toEqual([expect.stringMatching(message)]);
  });
});

describe('an expired code', () => {
  const expiring = { expiresInMs: 60_000 };

  async function expire(page: Page): Promise<string> {
    await page.clock.install();
    const code = await begin(page);
    await page.clock.fastForward(61_000);
    await state(page, 'expired');
    return code;
  }

  test('is checked first; then a new code is the first action, and the check the second', async () => {
    const { page } = await open(site.page({ script: buttonScript(expiring) }));
    const release = await hold(page, '**/status/*');
    await expire(page);
    expect(await textOf(page, 'status')).toBe('The time to pay has run out. Checking for a payment…');
    expect([await isOffered(page, 'retry'), await isOffered(page, 'check')]).toEqual([false, false]);
    release();
    await part(page, 'retry').waitFor();
    expect(await textOf(page, 'status')).toContain('No payment yet.');
    expect(await part(page, 'retry').getAttribute('data-primary')).toBe('');
    expect(await part(page, 'check').getAttribute('data-primary')).toBeNull();
  });

  test('that was paid shows the payment when the visitor checks again', async () => {
    const { page } = await open(site.page({ script: buttonScript(expiring) }));
    const code = await expire(page);
    await part(page, 'retry').waitFor();
    // A status that the page requests before the click must not show the payment.
    const unpaid = { exists: true, code_scanned: false, intent_submitted: false };
    await page.route('**/status/*', (route) => route.fulfill({ json: unpaid }));
    await page.clock.pauseAt(Date.now() + 300_000);
    await site.simulator.wallet('Ada').pay(code);
    // Longer than the status cache of the site.
    await page.waitForTimeout(1_500);
    await page.unroute('**/status/*');
    await part(page, 'check').click();
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });
});
