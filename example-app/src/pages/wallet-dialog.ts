import { type Html, html } from '../html.js';

/** What a payment or a login goes on in. It is the same on every page; public/js/wallet-dialog.js fills and shows it. */
export const walletDialog = (walletUrl: string): Html => html`
    <dialog id="wallet-dialog" class="wallet" aria-labelledby="wallet-title" data-wallet-url="${walletUrl}">
      <div class="wallet__sheet">
        <header class="wallet__head">
          <h2 id="wallet-title" data-part="title"></h2>
          <p class="wallet__amount" data-part="amount"></p>
          <p class="wallet__what" data-part="what"></p>
        </header>
        <div class="wallet__stage">
          <canvas class="wallet__code" data-part="code" width="41" height="41" role="img"
            aria-label="A code to scan with your wallet"></canvas>
          <img class="wallet__tick" src="/images/tick.svg" alt="" width="96" height="96">
        </div>
        <p class="wallet__state" data-part="state" role="status"></p>
        <a class="button wallet__link" data-part="link" target="_blank" rel="noopener">${
          isSimulated(walletUrl) ? 'Open the simulated wallet' : 'Open your wallet'
        }</a>
        <button class="button button--quiet" type="button" data-part="cancel">Cancel</button>
        ${isSimulated(walletUrl) && html`<p class="wallet__note">The wallet is simulated: no money moves.</p>`}
      </div>
    </dialog>`;

/** Only a wallet for trying things out is on this very machine. */
const isSimulated = (url: string): boolean =>
  URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
