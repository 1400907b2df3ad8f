import type { Express } from 'express';
import { type SiteOptions, startSiteWithSimulator } from '../../support/sites/site.js';

/** Only files and routes of the site itself, and no text as markup. */
const strictPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** A page of the site. */
export interface SitePage {
  /** The page's own module. */
  readonly script?: string;
  /** The content of `main`. Default: an empty `#pay` for the button. */
  readonly body?: string;
  readonly lang?: string;
  readonly dir?: 'ltr' | 'rtl';
  /** The color schemes that the page supports. Default: it says nothing, and is light. */
  readonly colorScheme?: string;
}

export type StrictSite = Awaited<ReturnType<typeof startSiteWithSimulator>> & {
  /** Adds a page. @returns its address */
  page(page: SitePage): string;
};

/** A site that serves all its responses with the strictest policy. */
export async function startStrictSite(options: SiteOptions = {}): Promise<StrictSite> {
  const pages: SitePage[] = [];
  const site = await startSiteWithSimulator({
    ...options,
    before: (app) => {
      servePages(app, pages);
      options.before?.(app);
    },
  });
  return { ...site, page: (page) => `${site.origin}/pages/${pages.push(page) - 1}` };
}

function servePages(app: Express, pages: readonly SitePage[]): void {
  app.use((_req, res, next) => {
    res.set('Content-Security-Policy', strictPolicy);
    next();
  });
  app.get('/favicon.ico', (_req, res) => void res.status(204).end());
  app.get('/logo.svg', (_req, res) => void res.type('svg').send(logo));
  app.get('/nothing', (_req, res) => void res.status(204).end());
  app.get('/record.js', (_req, res) => void res.type('js').send(recordScript));
  app.get('/thanks', (_req, res) => void res.send(markup({ body: '<h1>Thank you</h1>' })));
  app.get('/pages/:number', (req, res) => {
    const page = pages[Number(req.params.number)];
    if (!page) return void res.sendStatus(404);
    res.send(markup(page, page.script === undefined ? '' : `${req.path}/script.js`));
  });
  app.get('/pages/:number/script.js', (req, res) => void res.type('js').send(pages[Number(req.params.number)]?.script));
}

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="#2f5d4a"/>
<path d="M10 16h16v8a6 6 0 0 1-6 6h-4a6 6 0 0 1-6-6zm16 2h3a2 2 0 0 1 0 7h-3" fill="none" stroke="#fff" stroke-width="2.5"/></svg>`;

/** Records the events of a button in `seen`. They survive a reload. */
const recordScript = `
const kept = sessionStorage.getItem('seen');
globalThis.seen = kept ? JSON.parse(kept) : [];
export function note(name, event) {
  seen.push([name, event && JSON.parse(JSON.stringify(event))]);
  sessionStorage.setItem('seen', JSON.stringify(seen));
}
export function record(button) {
  for (const name of ['invoke', 'scanned', 'success', 'cancel', 'error']) button.on(name, (event) => note(name, event));
}
`;

function markup(
  { body = '<h1>Pay</h1><div id="pay"></div>', lang = 'en', dir = 'ltr', colorScheme }: SitePage,
  script = '',
): string {
  return `<!doctype html>
<html lang="${lang}" dir="${dir}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>A shop</title>
    ${colorScheme ? `<meta name="color-scheme" content="${colorScheme}">` : ''}
    ${script && `<script type="module" src="${script}"></script>`}
  </head>
  <body><main>${body}</main></body>
</html>`;
}
