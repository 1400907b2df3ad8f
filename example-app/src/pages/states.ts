import { type Html, html } from '../html.js';
import { shopName } from './layout.js';

/** What the dialog can show, and in which mode it is shown here. */
const states = [
  ['preparing', 'payment'],
  ['waiting', 'payment'],
  ['scanned', 'payment'],
  ['done', 'payment'],
  ['rejected', 'payment'],
  ['expired', 'payment'],
  ['offline', 'payment'],
  ['problem', 'payment'],
  ['waiting', 'login'],
  ['confirming', 'login'],
  ['done', 'login'],
  ['problem', 'login'],
] as const;

/** The element as it comes, and in the colours of the house, which follow the system. */
const looks = ['light', 'dark', 'shop'] as const;
const widths = ['desktop', 'phone'] as const;

/** Every state of the wallet's dialog side by side, for eyes. Each stands in a frame of its own, and is the real element. */
export const statesPage = (language: string, direction: string): Html => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>States · ${shopName}</title>
    <link rel="icon" href="/images/mark.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/css/theme.css">
    <link rel="stylesheet" href="/css/states.css">
  </head>
  <body>
    <main class="states">
      <h1>Every state of the wallet’s dialog</h1>
      <p class="lead">Nothing here talks to a wallet: the answers are scripted, the element is the real one.</p>
      ${looks.map((look) =>
        widths.map(
          (width) => html`
      <h2>${look}, ${width}</h2>
      <div class="states__row">${states.map(
        ([state, mode]) => html`
        <figure>
          <iframe class="frame frame--${width}" loading="lazy" title="${state}, ${mode}, ${look}, ${width}"
            src="/states/frame?state=${state}&amp;mode=${mode}&amp;look=${look}&amp;lang=${language}&amp;dir=${direction}"></iframe>
          <figcaption>${mode}: ${state}</figcaption>
        </figure>`,
      )}
      </div>`,
        ),
      )}
    </main>
  </body>
</html>
`;

/** One frame: a page with a button that a script brings into the state that its address names. */
export const stateFrame = (language: string, direction: string, look: string): Html => html`<!doctype html>
<html lang="${language}" dir="${direction}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>One state · ${shopName}</title>
    <link rel="icon" href="/images/mark.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/css/theme.css">
    ${look === 'shop' && html`<link rel="stylesheet" href="/css/wallet.css">`}
    <link rel="stylesheet" href="/css/states.css">
    <script type="module" src="/js/state-frame.js"></script>
  </head>
  <body class="behind behind--${look}">
    <main>
      <intent-button class="pay" payee="${shopName}" wallet-url="https://wallet.example/open"
        appearance="${look === 'shop' ? 'auto' : look}"></intent-button>
    </main>
  </body>
</html>
`;
