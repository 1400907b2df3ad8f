import { NativePromise } from '../built-ins.js';
import type { Settings } from '../options.js';
import { amountIn, localizeAmount } from '../texts/amount.js';
import { en, type Texts } from '../texts/en.js';
import { problemText, retryText } from '../texts/texts.js';
import { buildElement, svgAttributes } from './build-element.js';
import textCss from './copy-text.css';
import { copyText, openWindow, showResult } from './copy-text.js';
import type { DialogState, ShownCode, StateDetails } from './dialog-state.js';
import css from './intent-dialog.css';
import { qrCode } from './qr-code.js';

// Loaded when a visitor is about to press the button. Its bundle has its own copies of the modules that elements.js uses too.

/** What the visitor can do. */
export interface DialogActions {
  /** The visitor closed the dialog, also with Escape. */
  closed(): void;
  retry(): void;
  /** Check whether the payment of an expired code has arrived. */
  check(): void;
}

/** The paths of the marks that replace the code, 24 by 24 units. */
const marks = {
  awaitingConfirmation: 'M12 12a4 4 0 1 0-.1 0M4 20a8 7 0 0 1 16 0',
  completing: 'M12 2a10 10 0 0 1 10 10',
  done: 'M5 13l4 4L19 7',
  declined: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 5v7l4 3',
  problem: 'M12 6v7M12 17v.1',
};

/** Whether the wallet is probably on this device. */
const isHandheld = (): boolean => matchMedia('(pointer:coarse),(max-width:480px)').matches;

let sheet: CSSStyleSheet | undefined;

/** The events in the dialog that the page does not hear: its cart closes with Escape, or with a click somewhere else. */
const containedEvents = [
  ...['keydown', 'keyup', 'keypress', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel', 'focusin', 'focusout'],
  ...['down', 'up', 'move', 'over', 'out'].flatMap((name) => [`mouse${name}`, `pointer${name}`]),
  ...['pointercancel', 'touchstart', 'touchmove', 'touchend', 'touchcancel', 'copy', 'selectstart', 'dragstart'],
];

/** The events that scroll a page. */
const scrollEvents = ['wheel', 'touchmove', 'keydown'];

/** The dialog of a payment or login. `IntentFlow` decides its states. */
export class IntentDialog {
  readonly element: HTMLDialogElement;
  readonly #host: HTMLElement;
  readonly #title = buildElement('h2', { part: 'title', id: 'title', dir: 'auto' });
  readonly #amount = buildElement('p', { part: 'amount', id: 'amount', dir: 'auto', 'aria-live': 'polite' });
  readonly #payee = buildElement('p', { part: 'payee', id: 'payee', dir: 'auto' });
  readonly #item = buildElement('p', { part: 'item', id: 'item', dir: 'auto' });
  readonly #code = buildElement('div', { part: 'code', role: 'img' });
  readonly #mark = buildElement('path');
  readonly #status = buildElement('p', { part: 'status', role: 'status', dir: 'auto' });
  /** For screen readers. */
  readonly #announcement = buildElement('p', { part: 'announcement', role: 'status' });
  readonly #lifetime = buildElement('p', { part: 'lifetime', role: 'timer', dir: 'auto' });
  readonly #link = buildElement('a', { part: 'link', target: '_blank', rel: 'noreferrer' });
  readonly #copy = buildElement('button', { part: 'copy' });
  /** The text to copy by hand. */
  readonly #text = buildElement('input', { part: 'text', readonly: '', dir: 'ltr' });
  /** The link or the copy button, once the browser has refused it. The text takes its place. */
  readonly #refused = new Set<HTMLElement>();
  readonly #check = buildElement('button', { part: 'check' });
  readonly #retry = buildElement('button', { part: 'retry' });
  readonly #cancel = buildElement('button', { part: 'cancel' });
  readonly #close = buildElement(
    'button',
    { part: 'close' },
    buildElement('svg', svgAttributes, buildElement('path', { d: 'M6 6l12 12M18 6L6 18' })),
  );
  #texts: Texts = en;
  #settings = {} as Settings;
  #shown: ShownCode | undefined;
  /** The start of the payload: the currency and the amount of a payment, without the secret. */
  #money: Uint8Array | undefined;
  /** Shows the current state, or the question, in the current language. */
  #render: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Set while the dialog asks the visitor to confirm the user. */
  #answer: ((isConfirmed: boolean) => void) | undefined;
  /** A modal dialog that is not displayed blocks the page, and the visitor cannot close it. */
  readonly #visibility = new IntersectionObserver(
    (changes) => this.element.isConnected && !changes.at(-1)?.isIntersecting && this.element.close(),
    // Without the viewports of outer documents.
    { root: document },
  );

  constructor(host: HTMLElement, root: ShadowRoot, actions: DialogActions) {
    this.#host = host;
    const stage = buildElement(
      'div',
      { part: 'stage' },
      this.#code,
      buildElement('svg', { part: 'mark', ...svgAttributes }, this.#mark),
    );
    this.element = buildElement(
      'dialog',
      { part: 'dialog', autofocus: '', tabindex: -1, 'aria-labelledby': 'title amount item payee' },
      buildElement('header', {}, this.#title, this.#payee, this.#amount, this.#item),
      buildElement('section', {}, stage, this.#status, this.#lifetime),
      this.#link,
      this.#check,
      this.#text,
      this.#copy,
      this.#retry,
      this.#cancel,
      this.#close,
      this.#announcement,
    );
    this.#retry.onclick = () => (this.#answer ? this.#answerQuestion(true) : actions.retry());
    this.#check.onclick = () => actions.check();
    this.#copy.onclick = () => void this.#copyCode();
    this.#link.onclick = (event) => {
      // A frame can be forbidden to open windows, and then the browser ignores a click on a link. A page on its own is not.
      if (self === top || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (!openWindow(this.#link.href)) this.#offerText(this.#link);
    };
    this.#cancel.onclick = () => this.element.close();
    this.#close.onclick = () => this.element.close();
    this.element.onclose = () => {
      if (host.dataset.open === undefined) return;
      this.#reset();
      this.#answerQuestion(false);
      actions.closed();
    };
    for (const name of containedEvents) {
      this.element.addEventListener(name, (event) => event.stopPropagation(), { passive: true });
    }
    // Escape is released when the dialog has closed, and the button has the focus again.
    root.addEventListener('keyup', (event) => (event as KeyboardEvent).key === 'Escape' && event.stopPropagation());
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css + textCss);
    }
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    root.append(this.element);
  }

  /** Opens the dialog unless it is open. Empty parts keep their space, so the layout does not jump. */
  open(settings: Settings, title: string, texts: Texts = en): void {
    const { locale, mode, payee, walletUrl } = settings;
    const { element } = this;
    this.#money = this.#render = undefined;
    element.toggleAttribute('data-handheld', !!walletUrl && isHandheld());
    this.#payee.textContent = payee;
    for (const empty of [this.#amount, this.#item, this.#lifetime]) {
      empty.textContent = '\u00a0';
      empty.hidden = mode === 'login' && empty !== this.#lifetime;
    }
    this.relabel(settings, title, texts);
    this.#host.dataset.open = '';
    if (!element.open) this.#showModal();
    // On a short screen the browser may scroll to the element it focuses.
    element.scrollTop = 0;
    // Formatting the first amount takes tens of milliseconds. Do it during the request.
    setTimeout(() => localizeAmount('1.00', 'usd', locale));
  }

  /** Changes the language. The state, the code and the remaining time stay. */
  relabel(settings: Settings, title: string, texts: Texts = en): void {
    const { label, locale, mode } = settings;
    this.#texts = texts;
    this.#settings = settings;
    this.element.lang = locale;
    // A login can have another purpose, such as linking a wallet. Only the page's own button text names it.
    this.#title.textContent = (mode === 'login' && label) || title;
    this.#close.ariaLabel = texts.close;
    this.#link.textContent = isHandheld() ? texts.link : texts.linkHere;
    this.#copy.textContent = this.#copyLabel;
    this.#check.textContent = texts.check;
    this.#text.ariaLabel = this.#copyLabel;
    this.#showAmount();
    if (this.#shown) this.#tick();
    this.#render?.();
  }

  get #copyLabel(): string {
    return this.#settings.walletUrl ? this.#texts.copyLink : this.#texts.copyCode;
  }

  /** Shows an open dialog again, which the page has moved. */
  reopen(): void {
    if (!this.element.open) return;
    this.element.removeAttribute('open');
    this.#showModal();
  }

  /** What the button shows while a scanned payment can still be confirmed. */
  static payableNote({ payable }: Texts = en): string {
    return payable;
  }

  /** Closes the dialog without a call to `closed`. */
  close(): void {
    this.#reset();
    this.element.close();
  }

  /** Shows the code, the amount, and a link for a wallet on this device. @throws {TypeError} for an unknown currency */
  showCode(code: ShownCode): void {
    this.#money = this.#settings.mode === 'payment' ? code.payload.slice(0, 9) : undefined;
    this.#code.replaceChildren(qrCode(code.text, this.#code.clientWidth));
    this.#showAmount();
    if (code.link) this.#link.href = code.link;
    this.#shown = code;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), 1_000);
    this.#tick();
  }

  #showAmount(): void {
    const amount = this.#money && amountIn(this.#money, this.#settings.locale);
    this.#code.ariaLabel = [this.#texts.code, amount].filter(Boolean).join(', ');
    if (!amount) return;
    this.#amount.textContent = amount;
    this.#fitAmount();
  }

  /** A number that breaks, or is cut off, can be read as another one: the stylesheet needs the width of the text, in em. */
  #fitAmount(): void {
    const range = document.createRange();
    range.selectNodeContents(this.#amount);
    const ems = range.getBoundingClientRect().width / Number.parseFloat(getComputedStyle(this.#amount).fontSize);
    this.#amount.style.setProperty('--_ems', `${ems}`);
  }

  /** Shows what the payer buys. */
  showItem(description: string): void {
    this.#item.textContent = description;
  }

  /** Removes the code and the link, and with them the secret, from the page. */
  clearCode(): void {
    clearInterval(this.#timer);
    this.#shown = undefined;
    this.#code.replaceChildren();
    this.#link.removeAttribute('href');
    this.#refused.clear();
    this.#text.value = '';
    this.#lifetime.textContent = '\u00a0';
  }

  show(state: DialogState, details: StateDetails = {}): void {
    this.#render = () => this.show(state, details);
    this.element.dataset.state = state;
    const isFinal = details.isFinal || state === 'done' || state === 'completing';
    const isCheck = state === 'expired' && this.#settings.mode === 'payment';
    const mark = marks[state as 'done'] ?? '';
    this.#setMark(mark);
    this.#retry.hidden = !mark || isFinal || (isCheck && details.check !== 'unpaid');
    this.#check.hidden = !isCheck;
    this.#check.disabled = !details.check;
    // Without a link, copying is the way to a wallet on this device.
    this.#link.hidden = !!mark || !this.#settings.walletUrl || this.#refused.has(this.#link);
    this.#text.hidden = !!mark || !this.#refused.size;
    this.#copy.hidden = !!mark || this.#refused.has(this.#copy);
    this.#copy.disabled = !this.#shown;
    this.#retry.textContent = this.#texts.retry;
    this.#cancel.textContent = mark ? this.#texts.close : this.#texts.cancel;
    this.#arrange(this.#sentence(state, details));
  }

  /**
   * Asks in the open dialog whether to continue as the user of the wallet.
   * @returns false if the visitor closes the dialog; never resolves if the dialog leaves the page
   */
  confirmUser(userId: string): Promise<boolean> {
    this.#render = () => {
      const { ask, yes, no } = this.#texts;
      this.#retry.textContent = yes;
      this.#cancel.textContent = no;
      this.#arrange(ask.replace('{user}', `${userId.slice(0, 4)}…${userId.slice(-4)}`));
    };
    this.element.dataset.state = 'awaitingConfirmation';
    this.#setMark(marks.awaitingConfirmation);
    this.#retry.hidden = false;
    this.#render();
    return new NativePromise((resolve) => {
      this.#answer = resolve;
    });
  }

  async #copyCode(): Promise<void> {
    const shown = this.#shown;
    // The result of the last click is still shown.
    if (!shown || this.#announcement.textContent) return;
    const isCopied = await copyText(shown.text, this.#text);
    // Meanwhile the code has gone, or another click has been answered.
    if (this.#shown !== shown || this.#announcement.textContent) return;
    if (isCopied) showResult(this.#copy, this.#announcement, this.#texts.copied, () => this.#copyLabel);
    else this.#offerText(this.#copy);
  }

  /** Shows the text, selected, in place of what the browser has refused. */
  #offerText(refused: HTMLElement): void {
    this.#refused.add(refused);
    this.#text.value = (this.#refused.has(this.#link) && this.#shown?.link) || (this.#shown?.text ?? '');
    this.#render?.();
    this.#text.select();
  }

  #showModal(): void {
    this.element.showModal();
    this.#visibility.observe(this.element);
    // At the window, because a listener of the dialog can be too late for the area of its backdrop.
    for (const name of scrollEvents) addEventListener(name, this.#keepPageStill, { capture: true, passive: false });
  }

  /** Lets the visitor scroll the dialog, but not the page behind it. */
  readonly #keepPageStill = (event: Event): void => {
    const { element } = this;
    const { key, touches = [event], ctrlKey } = event as KeyboardEvent & TouchEvent;
    const canScroll = element.scrollHeight > element.clientHeight;
    if (key) {
      // A space presses a button.
      const isSpace = key === ' ' && !(event.composedPath()[0] instanceof HTMLButtonElement);
      if (!canScroll && (isSpace || /^(Arrow|Page|Home|End)/.test(key))) event.preventDefault();
      return;
    }
    const { clientX: x, clientY: y } = touches[0] as Touch;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isInside = x > left && x < right && y > top && y < bottom;
    const isZoom = ctrlKey || touches.length > 1;
    if (!isZoom && !(isInside && canScroll)) event.preventDefault();
  };

  #answerQuestion(isConfirmed: boolean): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    this.show('completing');
    answer(isConfirmed);
  }

  #setMark(mark: string): void {
    this.element.toggleAttribute('data-mark', !!mark);
    this.#mark.setAttribute('d', mark);
  }

  /** Announces the sentence. The first visible action is the primary one, which has a line of its own. */
  #arrange(sentence: string): void {
    const { element } = this;
    const actions = [this.#link, this.#check, this.#text, this.#copy, this.#retry];
    const primary = actions.find(({ hidden }) => !hidden);
    for (const action of actions) action.toggleAttribute('data-primary', action === primary);
    element.toggleAttribute('data-no-primary', !primary);
    element.toggleAttribute(
      'data-lone-cancel',
      [this.#text, this.#copy, this.#retry].every((each) => each.hidden || each.disabled || each === primary),
    );
    // Screen readers announce a text each time it is set.
    if (this.#status.textContent !== sentence) this.#status.textContent = sentence;
    // The focused element may now be hidden.
    if (element.open && !this.#host.shadowRoot?.activeElement?.getClientRects().length) element.focus();
  }

  #sentence(state: DialogState, { problem, isUnpaid, check }: StateDetails): string {
    const texts = this.#texts;
    const isPayment = this.#settings.mode === 'payment';
    if (problem && state === 'completing') return retryText(problem, texts);
    if (problem) {
      // The site's own message is shown alone: `unpaid` could contradict it, if the visitor has paid in another tab.
      const isOwnText = problem.code === 'request_refused' && problem.message !== problem.code;
      return [problemText(problem, texts), isUnpaid && !isOwnText && texts.unpaid].filter(Boolean).join(' ');
    }
    if (state === 'done') return isPayment ? texts.paid : texts.loggedIn;
    if (state === 'expired' && isPayment) {
      const next = { unpaid: texts.keepOpen, failed: navigator.onLine ? texts.unchecked : texts.offlineOpen };
      return `${texts.expired} ${check ? next[check] : texts.checking}`;
    }
    if (state === 'offline' && navigator.onLine) return texts.noAnswer;
    if (state === 'offline' && isPayment && this.#shown) return texts.offlineOpen;
    if (state === 'waiting' && this.#refused.size)
      return this.#refused.has(this.#link) ? texts.copyInstead : texts.copyThis;
    if (state === 'waiting' && isHandheld()) return this.#settings.walletUrl ? texts.waitingHere : texts.waitingCopy;
    return texts[state as 'waiting'];
  }

  /** The remaining time as minutes and seconds. */
  #tick(): void {
    const seconds = Math.max(0, Math.round(((this.#shown?.expiresAtMs ?? 0) - Date.now()) / 1_000));
    const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;
    this.#lifetime.textContent = `${this.#texts.expires} ${time}`;
  }

  #reset(): void {
    this.#visibility.disconnect();
    for (const name of scrollEvents) removeEventListener(name, this.#keepPageStill, { capture: true });
    delete this.#host.dataset.open;
    this.clearCode();
  }
}
