import { type Locale, localeOf } from './locale.js';
import { drawing, make } from './make.js';
import type { Settings } from './settings.js';

/** What the dialog shows; its `data-state`. */
export type State =
  | 'preparing'
  | 'waiting'
  | 'scanned'
  | 'confirming'
  | 'done'
  | 'rejected'
  | 'expired'
  | 'offline'
  | 'problem';

/** What is drawn where the code was, in a square of 24. */
const marks: Partial<Record<State, string>> = {
  done: 'M5 13l4 4L19 7',
  rejected: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 5v7l4 3',
  problem: 'M12 6v7M12 17v.1',
};

/** Where a finger is what points, the wallet is most likely on this very device. */
const isHandheld = (): boolean => matchMedia('(pointer:coarse),(max-width:480px)').matches;

/** The dialog a payment or a login goes on in. It knows how things look, and nothing of how they happen. */
export class IntentDialog {
  readonly element: HTMLDialogElement;
  readonly #host: HTMLElement;
  readonly #title = make('h2', { part: 'title', dir: 'auto' });
  readonly #amount = make('p', { part: 'amount', dir: 'auto' });
  readonly #payee = make('p', { part: 'payee', dir: 'auto' });
  readonly #code = make('div', { part: 'code', role: 'img' });
  readonly #mark = make('path');
  readonly #status = make('p', { part: 'status', role: 'status', dir: 'auto' });
  readonly #link = make('a', { part: 'link', target: '_blank', rel: 'noreferrer' });
  readonly #retry = make('button', { part: 'retry' });
  readonly #cancel = make('button', { part: 'cancel' });
  /** The one it was opened in. */
  locale = localeOf('en');

  /** @param onClosed is called when the person has closed it, by whatever way */
  constructor(host: HTMLElement, onClosed: () => void, onRetry: () => void) {
    this.#host = host;
    this.element = make(
      'dialog',
      { part: 'dialog', autofocus: '', tabindex: -1 },
      this.#title,
      this.#amount,
      this.#payee,
      make('div', { part: 'stage' }, this.#code, make('svg', { part: 'mark', ...drawing }, this.#mark)),
      this.#status,
      this.#link,
      this.#retry,
      this.#cancel,
    );
    this.#retry.onclick = onRetry;
    this.#cancel.onclick = () => this.element.close();
    this.element.onclose = () => {
      if (host.dataset.open === undefined) return;
      this.#putAway();
      onClosed();
    };
  }

  /** Opens it, where it is not open already. What will come keeps its place, so that nothing jumps. */
  open(locale: Locale, { mode, payee, walletUrl }: Settings): void {
    const { tag, texts } = locale;
    this.locale = locale;
    this.element.lang = tag;
    this.element.setAttribute('aria-label', texts[mode]);
    this.#title.textContent = texts[mode];
    this.#amount.textContent = '\u00a0';
    this.#amount.hidden = mode === 'login';
    this.#payee.textContent = payee;
    this.#code.setAttribute('aria-label', texts.code);
    this.#link.textContent = isHandheld() ? texts.link : texts.linkHere;
    this.#link.hidden = !walletUrl;
    this.#retry.textContent = texts.retry;
    this.#host.dataset.open = '';
    if (!this.element.open) this.element.showModal();
    // Opening looks for something to focus, which on a low screen may be the last thing there is.
    this.element.scrollTop = 0;
  }

  /** Closes it without anybody being told. */
  close(): void {
    this.#putAway();
    this.element.close();
  }

  /** Shows a code, what it costs, and a link for the wallet on this device where there is one. */
  showCode(code: SVGElement, amount: string, link: string | undefined): void {
    this.#code.replaceChildren(code);
    this.#amount.textContent = amount;
    if (link) this.#link.href = link;
  }

  /** Takes code and link, and with them the secret, off the page. What never came keeps its place no longer. */
  clearCode(): void {
    this.#code.replaceChildren();
    this.#link.removeAttribute('href');
    this.#link.hidden = true;
    this.#amount.hidden ||= !this.#amount.textContent.trim();
  }

  /**
   * @param text is read aloud once; by default what goes with the state
   * @param isFinal whether there is nothing to try again
   */
  show(state: State, text?: string, isFinal = state === 'done'): void {
    const { element } = this;
    const { texts } = this.locale;
    const mark = marks[state] ?? '';
    element.dataset.state = state;
    element.toggleAttribute('data-mark', !!mark);
    this.#mark.setAttribute('d', mark);
    this.#retry.hidden = !mark || isFinal;
    this.#cancel.textContent = mark || state === 'confirming' ? texts.close : texts.cancel;
    const isHere = state === 'waiting' && this.#link.href && isHandheld();
    const sentence = text ?? texts[isHere ? 'waitingHere' : (state as 'waiting')];
    // Set again and again, the same sentence would be read aloud again and again.
    if (this.#status.textContent !== sentence) this.#status.textContent = sentence;
    // What had the focus may just have gone.
    if (element.open && !this.#host.shadowRoot?.activeElement?.getClientRects().length) element.focus();
  }

  #putAway(): void {
    delete this.#host.dataset.open;
    this.clearCode();
  }
}
