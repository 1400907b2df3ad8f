import type { Settings } from '../options.js';
import { type Locale, localeOf } from '../texts/locale.js';
import { drawing, make } from './make.js';

/** The states of the dialog; its `data-state`. `IntentFlow` describes their transitions. */
export type State =
  | 'preparing'
  | 'waiting'
  | 'scanned'
  | 'confirming'
  | 'done'
  | 'declined'
  | 'expired'
  | 'offline'
  | 'problem';

/** The paths of the marks that replace the code, in a square of 24. */
const marks: Partial<Record<State, string>> = {
  done: 'M5 13l4 4L19 7',
  declined: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 5v7l4 3',
  problem: 'M12 6v7M12 17v.1',
};

/** Whether the wallet is probably on this device. */
const isHandheld = (): boolean => matchMedia('(pointer:coarse),(max-width:480px)').matches;

/** The dialog of a payment or login. It displays states and decides none. */
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
  /** Set when the dialog opens. */
  locale = localeOf('en');

  /** @param onClosed called when the visitor closes the dialog, also with Escape */
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
      this.#reset();
      onClosed();
    };
  }

  /** Opens the dialog unless it is open. Empty parts keep their space, so the layout does not jump. */
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
    // On a low screen the browser may scroll to the element it focuses.
    this.element.scrollTop = 0;
  }

  /** Closes the dialog without a call to `onClosed`. */
  close(): void {
    this.#reset();
    this.element.close();
  }

  /** Shows the code, the amount, and a link for a wallet on this device. */
  showCode(code: SVGElement, amount: string, link: string | undefined): void {
    this.#code.replaceChildren(code);
    this.#amount.textContent = amount;
    if (link) this.#link.href = link;
  }

  /** Removes the code and the link, and with them the secret, from the page. An empty amount is hidden. */
  clearCode(): void {
    this.#code.replaceChildren();
    this.#link.removeAttribute('href');
    this.#link.hidden = true;
    this.#amount.hidden ||= !this.#amount.textContent.trim();
  }

  /**
   * @param text announced once by screen readers; default: the text of the state
   * @param isFinal whether a retry is not offered
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
    // Screen readers announce a text each time it is set.
    if (this.#status.textContent !== sentence) this.#status.textContent = sentence;
    // The focused element may now be hidden.
    if (element.open && !this.#host.shadowRoot?.activeElement?.getClientRects().length) element.focus();
  }

  #reset(): void {
    delete this.#host.dataset.open;
    this.clearCode();
  }
}
