import type { Locale } from './locale.js';
import { make, svg } from './make.js';
import type { Texts } from './texts/en.js';

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

/** What stands at the top of the dialog. */
export interface Heading {
  readonly title: string;
  readonly amount?: string | undefined;
  readonly payee: string;
}

/** What is drawn where the code was, in a square of 24. */
const marks: Partial<Record<State, string>> = {
  done: 'M5 12.5l4.5 4.5L19 7.5',
  rejected: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 4a8 8 0 1 0 0 16 8 8 0 1 0 0-16M12 7.5V12l3 2',
  problem: 'M12 6v7.5M12 17.4v.1',
};

/** Where a finger is what points, the wallet is most likely on this very device. */
const isHandheld = (): boolean => matchMedia('(pointer: coarse), (max-width: 480px)').matches;

/** The dialog a payment or a login goes on in. It knows how things look, and nothing of how they happen. */
export class IntentDialog {
  readonly element: HTMLDialogElement;
  readonly #host: HTMLElement;
  readonly #title = make('h2', { part: 'title', id: 'title', dir: 'auto' });
  readonly #amount = make('p', { part: 'amount', dir: 'auto' });
  readonly #payee = make('p', { part: 'payee', dir: 'auto' });
  readonly #code = make('div', { part: 'code', role: 'img' });
  readonly #mark = svg('path', {});
  readonly #status = make('p', { part: 'status', role: 'status', dir: 'auto' });
  readonly #link = make('a', { part: 'link', target: '_blank', rel: 'noopener noreferrer' });
  readonly #retry = make('button', { part: 'retry', type: 'button' });
  readonly #cancel = make('button', { part: 'cancel', type: 'button' });
  #texts: Texts | undefined;

  /** @param on.closed is called when the person has closed it, by whatever way */
  constructor(host: HTMLElement, on: { readonly closed: () => void; readonly retry: () => void }) {
    this.#host = host;
    const mark = svg('svg', { part: 'mark', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, this.#mark);
    this.element = make(
      'dialog',
      { part: 'dialog', 'aria-labelledby': 'title', autofocus: '', tabindex: -1 },
      this.#title,
      this.#amount,
      this.#payee,
      make('div', { part: 'stage' }, this.#code, mark),
      this.#status,
      this.#link,
      this.#retry,
      this.#cancel,
    );
    this.#retry.addEventListener('click', on.retry);
    this.#cancel.addEventListener('click', () => this.element.close());
    this.element.addEventListener('close', () => {
      if (!host.hasAttribute('data-open')) return;
      this.#closed();
      on.closed();
    });
  }

  /** Opens it, where it is not open already. What will come keeps its place, so that nothing jumps. */
  open({ texts, tag }: Locale, { hasLink, hasAmount }: { hasLink: boolean; hasAmount: boolean }): void {
    this.#texts = texts;
    this.element.lang = tag;
    this.#retry.textContent = texts.retry;
    this.#code.setAttribute('aria-label', texts.code);
    this.#link.textContent = isHandheld() ? texts.link : texts.linkHere;
    this.#link.hidden = !hasLink;
    this.#amount.hidden = !hasAmount;
    this.#host.toggleAttribute('data-open', true);
    if (!this.element.open) this.element.showModal();
  }

  /** Closes it without anybody being told. */
  close(): void {
    this.#closed();
    this.element.close();
  }

  setHeading({ title, amount = '', payee }: Heading): void {
    this.#title.textContent = title;
    this.#amount.textContent = amount;
    this.#payee.textContent = payee;
  }

  /** Shows a code, and a link for the wallet on this device where there is one. */
  showCode(code: SVGElement, link: string | undefined): void {
    this.#code.replaceChildren(code);
    if (link) this.#link.href = link;
  }

  /** Takes code and link, and with them the secret, off the page. */
  clearCode(): void {
    this.#code.replaceChildren();
    this.#link.removeAttribute('href');
  }

  /** @param text is read aloud once; by default what goes with the state */
  show(state: State, text?: string): void {
    const texts = this.#texts;
    if (!texts) return;
    this.element.dataset.state = state;
    const mark = marks[state];
    this.element.toggleAttribute('data-mark', !!mark);
    this.#mark.setAttribute('d', mark ?? '');
    this.#retry.hidden = !mark || state === 'done';
    this.#cancel.textContent = mark || state === 'confirming' ? texts.close : texts.cancel;
    const sentence =
      text ?? texts[state === 'waiting' && isHandheld() && this.#link.href ? 'waitingHere' : (state as 'waiting')];
    // Set again and again, the same sentence would be read aloud again and again.
    if (this.#status.textContent !== sentence) this.#status.textContent = sentence;
    this.#keepFocus();
  }

  /** What had the focus may just have gone. */
  #keepFocus(): void {
    const { activeElement } = this.element.getRootNode() as ShadowRoot;
    if (this.element.open && !activeElement?.getClientRects().length) this.element.focus();
  }

  #closed(): void {
    this.#host.removeAttribute('data-open');
    this.clearCode();
  }
}
