import { type Html, html } from '../html.js';

export const shopName = 'The Patient Kettle';

/** What the layout shows about the visit. */
export interface Visit {
  /** Undefined without a login. */
  readonly userId: string | undefined;
  /** Whether the wallet is simulated. */
  readonly isSimulated: boolean;
}

export interface Page {
  readonly title: string;
  readonly main: Html;
  /** Additional modules of this page, in public/js. */
  readonly scripts?: readonly string[];
}

/** The first and last four characters of a user id. */
export const shorten = (id: string): string => `${id.slice(0, 4)}…${id.slice(-4)}`;

export function layout({ title, main, scripts = [] }: Page, { userId, isSimulated }: Visit): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="description" content="A small tea house that takes wallet payments.">
    <title>${title} · ${shopName}</title>
    <link rel="icon" href="/images/mark.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/css/shop.css">
    <script type="module" src="/js/main.js"></script>
    ${scripts.map((script) => html`<script type="module" src="/js/${script}"></script>`)}
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    ${header(userId)}
    <main id="main" class="page">
      <noscript><p class="notice">Payments and logins need JavaScript.</p></noscript>
      ${main}
    </main>
    ${footer(isSimulated)}
  </body>
</html>
`;
}

const header = (userId: string | undefined): Html => html`
    <header class="top">
      <a class="brand" href="/"><img src="/images/mark.svg" alt="" width="36" height="36">${shopName}</a>
      <nav aria-label="Main">
        ${userId === undefined ? html`<a href="/login">Log in</a>` : html`<a href="/account">My account</a>`}
      </nav>
    </header>`;

const footer = (isSimulated: boolean): Html => html`
    <footer class="bottom">
      <p>An example of <code>express-intents</code>. The tea is imaginary.${
        isSimulated && ' The wallet is simulated: no money moves.'
      }</p>
    </footer>`;
