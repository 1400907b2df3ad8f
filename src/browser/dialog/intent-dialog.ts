import { NativePromise } from '../built-ins.js';
import type { Settings } from '../options.js';
import { localizeAmount } from '../texts/amount.js';
import { en, type Texts } from '../texts/en.js';
import { languageOf } from '../texts/language-of.js';
import { httpUrl } from '../validation.js';
import { buildElement, svgAttributes } from './build-element.js';
import { containEvents, keepPageStill } from './contain-events.js';
import { copyText, openWindow, showResult } from './copy-text.js';
import { type DialogConfig, servedConfig } from './dialog-config.js';
import { DialogHeader } from './dialog-header.js';
import layoutCss from './dialog-layouts.css';
import { type DialogState, isRetryable, type ShownCode, type StateDetails } from './dialog-state.js';
import css from './intent-dialog.css';
import { qrCode } from './qr-code.js';
import { type Situation, sentenceOf } from './sentence.js';

// Loaded when a visitor is about to press the button. Its bundle has its own copies of the modules that elements.js uses too.

/** What the visitor can do. */
export interface DialogActions {
  /** The visitor closed the dialog, also with Escape. */
  closed(): void;
  retry(): void;
  /** Check whether the payment of an expired code has arrived. */
  check(): void;
}

/** Whether the wallet is probably on this device. */
const isHandheld = (): boolean => matchMedia('(pointer:coarse),(max-width:480px)').matches;

/** A text can be in another direction than the page: its question mark must stay at its end. */
const action = <Name extends 'a' | 'button'>(name: Name, part: string) =>
  buildElement(name, { part, dir: 'auto', ...(name === 'a' && { target: '_blank', rel: 'noreferrer' }) });

/** The drawings in place of the code, 24 by 24 units. A spinner has no drawing. */
const marks: Readonly<Record<string, string>> = {
  wallet: 'M17 8V4H4v16h17V8H4M17 14v.1',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1M11.5 18h1',
  awaitingConfirmation: 'M12 12a4 4 0 1 0-.1 0M4 20a8 7 0 0 1 16 0',
  done: 'M5 13l4 4L19 7',
  declined: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 2a10 10 0 1 0 .1 0M12 7v5l3 2',
  problem: 'M12 6v7M12 17v.1',
};

/** How long a new sentence fades in, in milliseconds. */
const fadeMs = 250;

let sheet: CSSStyleSheet | undefined;

/** The dialog of a payment or login. `IntentFlow` decides its states. */
export class IntentDialog {
  readonly element: HTMLDialogElement;
  readonly #host: HTMLElement;
  readonly #header = new DialogHeader();
  readonly #code = buildElement('div', { part: 'code', role: 'img' });
  readonly #markPath = buildElement('path', { pathLength: 1 });
  readonly #mark = buildElement('svg', { part: 'mark', ...svgAttributes }, this.#markPath);
  readonly #status = buildElement('p', { part: 'status', role: 'status', dir: 'auto' });
  /** For screen readers. */
  readonly #announcement = buildElement('p', { part: 'announcement', role: 'status' });
  readonly #lifetime = buildElement('p', { part: 'lifetime', role: 'timer', dir: 'auto' });
  readonly #link = action('a', 'link');
  readonly #retry = action('button', 'retry');
  readonly #check = action('button', 'check');
  /** The text to copy by hand. */
  readonly #text = buildElement('input', { part: 'text', readonly: '', dir: 'ltr' });
  readonly #copy = action('button', 'copy');
  readonly #showsCode = action('button', 'show-code');
  readonly #cancel = action('button', 'cancel');
  readonly #help = action('a', 'help');
  readonly #close = buildElement(
    'button',
    { part: 'close' },
    buildElement('svg', svgAttributes, buildElement('path', { d: 'M6 6l12 12M18 6L6 18' })),
  );
  /** The link or the copy button, once the browser has refused it. The text takes its place. */
  readonly #refused = new Set<HTMLElement>();
  #texts: Texts = en;
  #settings = {} as Settings;
  #config: DialogConfig = {};
  #shown: ShownCode | undefined;
  /** Whether the visitor wants to see the code, also where the wallet comes first, and after a scan. */
  #wantsCode = false;
  /** Whether a wallet has scanned the latest code. */
  #isScanned = false;
  /** Shows the current state, or the question, in the current language. */
  #render: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Set while the dialog asks the visitor to confirm the user. */
  #answer: ((isConfirmed: boolean) => void) | undefined;
  #releasePage: (() => void) | undefined;
  /** A modal dialog that is not displayed blocks the page, and the visitor cannot close it. */
  readonly #visibility = new IntersectionObserver(
    (changes) => this.element.isConnected && !changes.at(-1)?.isIntersecting && this.element.close(),
    // Without the viewports of outer documents.
    { root: document },
  );

  constructor(host: HTMLElement, root: ShadowRoot, actions: DialogActions) {
    this.#host = host;
    this.element = buildElement(
      'dialog',
      { part: 'dialog', autofocus: '', tabindex: -1, 'aria-labelledby': DialogHeader.ids },
      this.#header.element,
      buildElement(
        'section',
        {},
        buildElement('div', { part: 'stage' }, this.#code, this.#mark),
        this.#status,
        this.#lifetime,
      ),
      buildElement('footer', { role: 'presentation' }, ...this.#actions, this.#showsCode, this.#cancel, this.#help),
      this.#close,
      this.#announcement,
    );
    this.#retry.onclick = () => (this.#answer ? this.#answerQuestion(true) : actions.retry());
    this.#check.onclick = () => actions.check();
    this.#copy.onclick = () => void this.#copyCode();
    this.#showsCode.onclick = () => {
      this.#wantsCode = true;
      this.#render?.();
    };
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
    containEvents(this.element, root);
    root.append(this.element);
  }

  /** Of these, the first visible one in the order of `#arrange` is the primary one. */
  get #actions(): HTMLElement[] {
    return [this.#link, this.#retry, this.#check, this.#text, this.#copy];
  }

  /** Opens the dialog unless it is open. Empty parts keep their space, so the layout does not jump. */
  open(settings: Settings, title: string, texts: Texts = en): void {
    const { element } = this;
    this.#config = { __proto__: null, ...servedConfig, ...settings.dialog } as DialogConfig;
    this.#adoptStyles(settings);
    this.#render = undefined;
    this.#wantsCode = this.#isScanned = false;
    element.dataset.mode = settings.mode;
    this.#header.open(settings, this.#config);
    const { help } = this.#config;
    if (help) this.#help.href = httpUrl(help.url, 'help');
    this.#lifetime.textContent = '\u00a0';
    this.relabel(settings, title, texts);
    this.#host.dataset.open = '';
    if (!element.open) this.#showModal();
    this.#header.fitAmount();
    // On a short screen the browser may scroll to the element it focuses.
    element.scrollTop = 0;
    // Formatting the first amount takes tens of milliseconds. Do it during the request.
    setTimeout(() => localizeAmount('1.00', 'usd', settings.locale));
  }

  #adoptStyles({ css: siteCss = '' }: Settings): void {
    const root = this.#host.shadowRoot as ShadowRoot;
    sheet ??= new CSSStyleSheet();
    // In a bundle the button does not have the accent of the site, and keeps its own. The dialog may have it later.
    sheet.replaceSync(css + layoutCss + siteCss.replace(':host', 'dialog'));
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }

  /** Changes the language. The state, the code and the remaining time stay. */
  relabel(settings: Settings, title: string, texts: Texts = en): void {
    this.#texts = textsOf(settings.locale, texts, this.#config);
    this.#settings = settings;
    this.element.lang = settings.locale;
    this.#header.label(settings, this.#config, title);
    const { close, showCode, check, help } = this.#texts;
    this.#close.setAttribute('aria-label', close);
    this.#copy.textContent = this.#copyLabel;
    this.#text.setAttribute('aria-label', this.#copyLabel);
    this.#showsCode.textContent = showCode;
    this.#check.textContent = check;
    this.#help.textContent = help;
    this.#describeCode();
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
  static payableNote({ locale, dialog }: Settings, texts: Texts = en): string {
    return textsOf(locale, texts, { ...servedConfig, ...dialog }).payable;
  }

  /** Closes the dialog without a call to `closed`. */
  close(): void {
    this.#reset();
    this.element.close();
  }

  /** Shows the code, the amount, and a link for a wallet on this device. @throws {TypeError} for an unknown currency */
  showCode(code: ShownCode): void {
    this.#wantsCode = this.#isScanned = false;
    this.#code.replaceChildren(qrCode(code.text, this.#code.clientWidth));
    this.#describeCode(code.payload.slice(0, 9));
    if (code.link) this.#link.href = code.link;
    this.#shown = code;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#tick(), 1_000);
    this.#tick();
  }

  /** Names the code with the amount, which it shows in the header. @param money the start of the payload */
  #describeCode(money = this.#shown?.payload.slice(0, 9)): void {
    const isPayment = this.#settings.mode === 'payment';
    const amount = isPayment && money && this.#header.showMoney(money, this.#settings, this.#config);
    this.#code.setAttribute('aria-label', [this.#texts.code, amount].filter(Boolean).join(', '));
  }

  /** Shows what the payer buys. */
  showItem(description: string): void {
    this.#header.showItem(description);
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
    const { walletUrl, mode } = this.#settings;
    const { retry, newCode, close, link, linkHere } = this.#texts;
    const isScanned = state === 'scanned';
    this.#isScanned ||= isScanned;
    const isOver = !/^(preparing|waiting|scanned|offline|silent)$/.test(state);
    const canRetry = isRetryable(state) && !details.isFinal;
    const isCheck = state === 'expired' && mode === 'payment';
    const isWalletFirst = !!walletUrl && isHandheld() && !this.#wantsCode;
    const isCodeHidden = isWalletFirst || (isScanned && !this.#wantsCode);
    const isBusy = state === 'completing' || (isCheck && !details.check) || (!isOver && !this.#shown);
    const mark = isOver ? state : isWalletFirst && !isScanned ? 'wallet' : 'phone';
    this.#setStage(
      state,
      isOver || isWalletFirst ? 'mark' : isCodeHidden || isBusy ? 'both' : 'code',
      isBusy ? '' : mark,
    );
    this.element.toggleAttribute('data-wallet-first', isWalletFirst);
    this.element.toggleAttribute('data-empty', !isOver && !this.#shown);
    this.element.toggleAttribute('data-filled', isOver || (isHandheld() && !this.#wantsCode && !isScanned));
    this.#retry.hidden = !canRetry || (isCheck && details.check !== 'unpaid');
    this.#check.hidden = !isCheck || !details.check;
    this.#link.hidden = isOver || !walletUrl || this.#refused.has(this.#link) || (isCodeHidden && !isWalletFirst);
    this.#text.hidden = isOver || !this.#refused.size;
    // Without a link, copying is the way to a wallet on this device.
    this.#copy.hidden = isOver || this.#refused.has(this.#copy) || (isCodeHidden && !this.#refused.size);
    this.#showsCode.hidden = isOver || !isCodeHidden;
    this.#cancel.hidden = state !== 'problem' || canRetry;
    this.#help.hidden = !this.#config.help || isOver || isScanned;
    this.#link.textContent = isHandheld() ? link : linkHere;
    this.#retry.textContent = state === 'expired' && !(walletUrl && isHandheld()) ? newCode : retry;
    this.#cancel.textContent = close;
    // A scanned payment may have been confirmed.
    this.#arrange(sentenceOf(state, details, this.#texts, this.#situation), isCheck && this.#isScanned);
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
    this.#setStage('awaitingConfirmation', 'mark', 'awaitingConfirmation');
    this.#retry.hidden = this.#cancel.hidden = false;
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
    this.#releasePage ??= keepPageStill(this.element);
  }

  #answerQuestion(isConfirmed: boolean): void {
    const answer = this.#answer;
    if (!answer) return;
    this.#answer = undefined;
    this.show('completing');
    answer(isConfirmed);
  }

  /** @param stage what is in the middle @param mark the name of a drawing; empty for a spinner */
  #setStage(state: string, stage: 'code' | 'mark' | 'both', mark: string): void {
    const { dataset } = this.element;
    dataset.state = state;
    dataset.stage = stage;
    // The drawing fades out with the mark.
    if (stage === 'code') return;
    dataset.mark = mark;
    this.#markPath.setAttribute('d', marks[mark] ?? '');
  }

  /** Announces the sentence. The primary action has a line of its own. @param isCheckFirst whether "Check again" is primary */
  #arrange(sentence: string, isCheckFirst = false): void {
    const { element } = this;
    const order = [...(isCheckFirst ? [this.#check] : []), ...this.#actions, this.#cancel];
    const primary = order.find(({ hidden }) => !hidden);
    for (const action of order) action.toggleAttribute('data-primary', action === primary);
    // Screen readers announce a text each time it is set.
    if (this.#status.textContent !== sentence) {
      this.#status.textContent = sentence;
      if (!matchMedia('(prefers-reduced-motion:reduce)').matches) this.#status.animate({ opacity: [0, 1] }, fadeMs);
    }
    // The focused element may now be hidden.
    if (element.open && !this.#host.shadowRoot?.activeElement?.getClientRects().length) element.focus();
  }

  get #situation(): Situation {
    return {
      isPayment: this.#settings.mode === 'payment',
      hasCode: !!this.#shown,
      isWalletHere: isHandheld() && !this.#wantsCode,
      hasLink: !!this.#settings.walletUrl,
      copies: this.#refused.has(this.#link) ? 'link' : this.#refused.size ? 'code' : undefined,
    };
  }

  /** The remaining time as minutes and seconds. */
  #tick(): void {
    const seconds = Math.max(0, Math.round(((this.#shown?.expiresAtMs ?? 0) - Date.now()) / 1_000));
    const time = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`;
    this.#lifetime.textContent = `${this.#texts.expires} ${time}`;
  }

  #reset(): void {
    this.#visibility.disconnect();
    this.#releasePage?.();
    this.#releasePage = undefined;
    delete this.#host.dataset.open;
    this.clearCode();
  }
}

/** The texts of a language with those of the site. */
function textsOf(locale: string, texts: Texts, { help, texts: own }: DialogConfig): Texts {
  return { ...texts, ...(help?.label && { help: help.label }), ...own?.[languageOf(locale)] };
}
