import { generate } from '/vendor/lean-qr.mjs';

/** @typedef {'preparing' | 'waiting' | 'scanned' | 'done' | 'problem'} State */

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector('#wallet-dialog'));
const parts = Object.fromEntries(
  [...dialog.querySelectorAll('[data-part]')].map((element) => [element.dataset.part, element]),
);

parts.cancel.addEventListener('click', () => dialog.close());

/**
 * Opens the dialog. Whoever opens it hears by the signal that the visitor has closed it.
 * @param {{ title: string, amount?: string, what?: string }} texts
 * @returns {AbortSignal}
 */
export function openDialog({ title, amount = '', what = '' }) {
  const closed = new AbortController();
  parts.title.textContent = title;
  parts.amount.textContent = amount;
  parts.what.textContent = what;
  showState('preparing', 'One moment …');
  dialog.showModal();
  dialog.addEventListener('close', () => forget(closed), { once: true });
  return closed.signal;
}

/**
 * Shows the code and the link. Both carry the secret in the fragment, which a browser sends to no server.
 * @param {string} clientSecret
 */
export function showCode(clientSecret) {
  const link = `${dialog.dataset.walletUrl}#${clientSecret}`;
  parts.link.href = link;
  generate(link).toCanvas(parts.code, { on: [32, 28, 24, 255], off: [255, 255, 255, 255], pad: 4 });
  // One module is one pixel of the canvas. Enlarged to whole pixels of the screen all are equally large, and scan well.
  const modules = parts.code.width;
  const scale = Math.floor((parts.code.parentElement.clientWidth * devicePixelRatio) / modules) / devicePixelRatio;
  parts.code.style.width = `${modules * scale}px`;
  // Until now there was only Cancel to be focused.
  parts.link.focus();
}

/**
 * @param {State} state
 * @param {string} text
 */
export function showState(state, text) {
  dialog.dataset.state = state;
  parts.cancel.textContent = state === 'problem' ? 'Close' : 'Cancel';
  say(text);
}

/**
 * Tells the visitor something without a change of state.
 * @param {string} text
 */
export function say(text) {
  // Set again and again, the same sentence would be read aloud again and again.
  if (parts.state.textContent !== text) parts.state.textContent = text;
}

/**
 * The secret stays on the page no longer than it is of use.
 * @param {AbortController} closed
 */
function forget(closed) {
  parts.link.removeAttribute('href');
  parts.code.getContext('2d').clearRect(0, 0, parts.code.width, parts.code.height);
  closed.abort();
}
