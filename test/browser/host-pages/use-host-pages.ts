import { orderIn } from '../../support/sites/site.js';
import type { Engine, EnginePage, View } from '../engines/engine.js';
import { engineScript } from '../engines/engine-checkout.js';
import { type ButtonOptions, seen } from '../support/checkout.js';
import { type SitePage, type StrictSite, startStrictSite } from '../support/strict-site.js';

/** A page that was not written for the button. */
export interface HostPage extends SitePage {
  /** Runs before the button is mounted in `#pay`, with `button` in scope. */
  readonly script?: string;
  /** The stylesheet of the page. */
  readonly css?: string;
  readonly options?: ButtonOptions;
  /** Replaces the script that mounts a button. */
  readonly module?: string;
  readonly view?: View;
}

/** Opens a host page for a new visitor. */
export type VisitHostPage = ((page: HostPage) => Promise<EnginePage>) & { readonly site: StrictSite };

/** One engine per test file. An uncaught error, or a violation of the strict policy, fails the test. */
export function useHostPages(start: () => Promise<Engine>): VisitHostPage {
  let engine: Engine;
  let page: EnginePage | undefined;
  const visit = Object.assign(
    async ({ css, script = '', module, options, view = { width: 1000, height: 720 }, ...rest }: HostPage) => {
      const sheet = css
        ? `const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(css)}); document.adoptedStyleSheets = [sheet];`
        : '';
      page = await engine.visit(view);
      await page.goto(
        visit.site.page({
          ...rest,
          script: module === undefined ? engineScript(options, sheet + script) : sheet + module,
        }),
      );
      return page;
    },
    { site: {} as StrictSite },
  );
  beforeAll(async () => {
    visit.site = await startStrictSite({
      payment: (req) =>
        orderIn(req) === 'rupiah' ? { amount: '12345678.00', currency: 'idr' } : { amount: '4.50', currency: 'usd' },
    });
    engine = await start();
  });
  afterEach(async () => {
    const events = page ? await seen(page) : [];
    page = undefined;
    expect(events.filter(([name]) => /violation|fault/.test(name))).toEqual([]);
  });
  afterAll(() => engine?.close());
  return visit;
}
