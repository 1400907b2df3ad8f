import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { launchChromium } from './launch-chromium.js';

/** A visitor of a site: a browser context and the faults in it. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Every request of every page, in order. */
  readonly requests: Request[];
  /** Console errors, uncaught errors, CSP violations and requests to other origins. */
  readonly faults: string[];
  /** Allows faults that match. Any other fault fails the test at its end. */
  forgive(...faults: RegExp[]): void;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Runs in every page before all scripts of the site. */
  readonly before?: () => void;
}

/** Starts a visit. Resolves when the first page is loaded. */
export type Open = (url: string, options?: VisitOptions) => Promise<Visit>;

/** One browser per test file. Visits end with their test, and a fault that is not forgiven fails it. */
export function useChromium(launch: () => Promise<Browser> = launchChromium): Open {
  let browser: Browser;
  const open: { visit: Visit; forgiven: RegExp[] }[] = [];
  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(async () => {
    const ended = open.splice(0);
    for (const { visit } of ended) await visit.context.close();
    for (const { visit, forgiven } of ended) {
      expect(visit.faults.filter((fault) => !forgiven.some((pattern) => pattern.test(fault)))).toEqual([]);
    }
  });
  afterAll(() => browser?.close());
  return async (url, { before, ...options } = {}) => {
    const context = await browser.newContext({ ...usual, ...options });
    const forgiven: RegExp[] = [];
    const { requests, faults } = await record(context, new URL(url).origin);
    if (before) await context.addInitScript(before);
    const page = await context.newPage();
    const visit = { context, page, requests, faults, forgive: (...more: RegExp[]) => void forgiven.push(...more) };
    open.push({ visit, forgiven });
    page.setDefaultTimeout(60_000);
    await page.goto(url);
    return visit;
  };
}

/** Reduced motion makes tests faster. Animations have tests of their own. */
const usual: BrowserContextOptions = {
  locale: 'en-US',
  reducedMotion: 'reduce',
  viewport: { width: 1000, height: 720 },
};

async function record(context: BrowserContext, origin: string): Promise<Pick<Visit, 'requests' | 'faults'>> {
  const requests: Request[] = [];
  const faults: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (webError) => faults.push(`page: ${webError.error()}`));
  context.on('request', (request) => {
    requests.push(request);
    const url = new URL(request.url());
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) faults.push(`other origin: ${url.origin}`);
  });
  await context.addInitScript(reportViolations);
  return { requests, faults };
}

/** Runs in the page. */
function reportViolations(): void {
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
    console.error('securitypolicyviolation', effectiveDirective, blockedURI, sample);
  });
}
