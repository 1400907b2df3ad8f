import type { Page } from 'playwright-core';
import { startSimulator } from '../../../src/simulator/index.js';
import { eventually } from '../../support/eventually.js';
import { begin, buttonScript, event, idOf, part, scan, seen, state } from '../support/checkout.js';
import { type CuttableConnection, openCuttableConnection } from '../support/cuttable-connection.js';
import { balancerPage } from '../support/intent-answers.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const urls = { successUrl: '/thanks', cancelUrl: '/thanks?canceled' };

/** Repeats a check, and advances the page's clock by a second each time. */
function hurry(page: Page, assert: () => Promise<void>): Promise<void> {
  return eventually(async () => {
    await page.clock.fastForward(1_000);
    await assert();
  });
}

async function stateNow(page: Page, state: string): Promise<void> {
  expect(await part(page, 'dialog').getAttribute('data-state')).toBe(state);
}

describe('while the sequencer is away', () => {
  let connection: CuttableConnection;
  let far: Awaited<ReturnType<typeof startSimulator>>;
  let patient: StrictSite;

  beforeAll(async () => {
    far = await startSimulator();
    connection = await openCuttableConnection(far.url);
    patient = await startStrictSite({ sequencer: { url: connection.url, timeoutMs: 5_000 } });
  });
  afterAll(() => far.close());

  test('a started payment waits and succeeds after the recovery', async () => {
    const visit = await open(patient.page({ script: buttonScript() }));
    visit.forgive(/status of 50[234]/);
    const { page } = visit;
    const code = await begin(page);
    await page.clock.install();
    connection.cut();
    // Long enough for failed polls and the offline state.
    for (let second = 0; second < 40; second += 1) await page.clock.fastForward(1_000);
    connection.restore();
    await far.wallet('Ada').pay(code);
    await hurry(page, async () => expect((await seen(page)).map(([name]) => name)).toContain('success'));
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('a payment that cannot start is retried and starts after the recovery', async () => {
    connection.cut();
    const visit = await open(patient.page({ script: buttonScript() }));
    visit.forgive(/status of 50[234]/);
    const { page } = visit;
    const answer = page.waitForResponse((response) => response.status() >= 500);
    await part(page, 'button').click();
    await answer;
    connection.restore();
    const code = await scan(page);
    await far.wallet('Ada').pay(code);
    await event(page, 'success');
    expect((await seen(page)).map(([name]) => name)).not.toContain('error');
  });
});

test('while the site is away, a started payment shows offline and succeeds after the recovery', async () => {
  const connection = await openCuttableConnection(site.origin);
  const address = site.page({ script: buttonScript() }).replace(site.origin, connection.url);
  const visit = await open(address);
  visit.forgive(/ERR_(?:CONNECTION|EMPTY|INCOMPLETE|SOCKET|INVALID)\w*/);
  const { page } = visit;
  const code = await begin(page);
  await page.clock.install();
  connection.cut();
  await hurry(page, () => stateNow(page, 'offline'));
  await site.simulator.wallet('Ada').pay(code);
  expect((await seen(page)).map(([name]) => name)).not.toContain('success');
  connection.restore();
  await hurry(page, async () => expect((await seen(page)).map(([name]) => name)).toContain('success'));
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

test('without a network the dialog shows offline, and it continues when the network returns', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  visit.forgive(/ERR_INTERNET_DISCONNECTED/);
  const { page, context } = visit;
  const code = await begin(page);
  await context.setOffline(true);
  await state(page, 'offline');
  await site.simulator.wallet('Ada').pay(code);
  expect((await seen(page)).map(([name]) => name)).not.toContain('success');
  await context.setOffline(false);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

/** Hides or shows the page, like a switch to another app. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    Object.defineProperty(document, 'visibilityState', { value: isHidden ? 'hidden' : 'visible', configurable: true });
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, hidden);
}

test('a tab that was frozen during the payment succeeds at once when it wakes up', async () => {
  const connection = await openCuttableConnection(site.origin);
  // Without a stream, which the browser would reopen.
  const script = buttonScript({ routes: { events: false } });
  const visit = await open(site.page({ script }).replace(site.origin, connection.url));
  visit.forgive(/ERR_(?:CONNECTION|EMPTY|SOCKET)\w*/);
  const { page } = visit;
  await page.clock.install();
  const code = await begin(page);
  // The clock is stopped, so no timer causes what follows.
  await page.clock.pauseAt(Date.now() + 60_000);
  await setHidden(page, true);
  connection.cut();
  await page.clock.fastForward(60_000);
  // The last poll has failed by now, and a hidden page does not poll.
  await page.waitForTimeout(300);
  await site.simulator.wallet('Ada').pay(code);
  connection.restore();
  await page.clock.fastForward(60_000);
  await page.waitForTimeout(200);
  expect((await seen(page)).map(([name]) => name)).not.toContain('success');
  await setHidden(page, false);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
});

interface CountedStreams {
  /** How often the page has opened an event stream. */
  opened: number;
  /** How many event streams the browser has closed for good. */
  failed: number;
}

/** Runs in the page: counts its event streams. */
function countStreams(): void {
  const counts = { opened: 0, failed: 0 };
  globalThis.EventSource = class extends EventSource {
    constructor(url: string | URL) {
      super(url);
      counts.opened += 1;
      this.addEventListener('error', () => {
        if (this.readyState === this.CLOSED) counts.failed += 1;
      });
    }
  };
  Object.assign(globalThis, { counts });
}

describe('an event stream that a proxy answers with 502', () => {
  /** A started payment whose streams fail. The page's clock is stopped. */
  async function beginWithoutStream() {
    const visit = await open(site.page({ script: buttonScript() }), { before: countStreams });
    visit.forgive(/status of 502/);
    const { page } = visit;
    const counts = () => page.evaluate(() => (globalThis as unknown as { counts: CountedStreams }).counts);
    await page.route('**/events', balancerPage());
    await page.clock.install();
    const code = await begin(page);
    await page.clock.pauseAt(Date.now() + 60_000);
    /** The number of streams once the last one of them has failed. */
    const failed = async (): Promise<number> => {
      let last = 0;
      await eventually(async () => {
        const { opened, failed } = await counts();
        expect(failed).toBe(opened);
        last = opened;
      });
      return last;
    };
    return { page, code, counts, failed };
  }

  test('is reopened after at least 1 s and at most 3 s, until it is back', async () => {
    const { page, code, counts, failed } = await beginWithoutStream();
    for (let time = 0; time < 5; time += 1) {
      const opened = await failed();
      await page.clock.fastForward(999);
      expect((await counts()).opened).toBe(opened);
      await page.clock.fastForward(2_001);
      expect((await counts()).opened).toBe(opened + 1);
    }
    await failed();
    await page.unroute('**/events');
    // From here on only the stream can report the payment.
    const stream = page.waitForResponse((response) => response.url().endsWith('/events') && response.ok());
    await page.clock.fastForward(3_000);
    await stream;
    await site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });
});

test('a reload while the wallet pays: success is emitted, and the back button then shows the button and no dialog', async () => {
  const { page } = await open(site.page({ script: buttonScript(urls) }));
  const code = await begin(page);
  const address = page.url();
  await page.goto('about:blank');
  await site.simulator.wallet('Ada').pay(code);
  await page.goto(address);
  await page.waitForURL(`${site.origin}/thanks`);
  await page.goBack();
  await part(page, 'button').waitFor();
  expect(await page.locator('intent-button[data-open]').count()).toBe(0);
  await site.simulator.wallet('Ada').pay(await begin(page));
  await page.waitForURL(`${site.origin}/thanks`);
});
