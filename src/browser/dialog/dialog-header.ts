import type { Settings } from '../options.js';
import { amountIn, amountInLabel, localizeAmount } from '../texts/amount.js';
import { httpUrl } from '../validation.js';
import { buildElement } from './build-element.js';
import type { DialogConfig } from './dialog-config.js';

/** The top of the dialog: whom the visitor pays, how much, and for what. What arrives later has its space from the start. */
export class DialogHeader {
  readonly #logo = buildElement('img', { part: 'logo', alt: '', referrerpolicy: 'no-referrer' });
  readonly #payee = buildElement('p', { part: 'payee', id: 'payee', dir: 'auto' });
  readonly #domain = buildElement('p', { part: 'domain', id: 'domain', dir: 'ltr' });
  readonly #title = buildElement('h2', { part: 'title', id: 'title', dir: 'auto' });
  readonly #amount = buildElement('p', { part: 'amount', id: 'amount', dir: 'auto', 'aria-live': 'polite' });
  readonly #item = buildElement('p', { part: 'item', id: 'item', dir: 'auto' });
  readonly element = buildElement(
    'header',
    // Not a landmark of the page.
    { role: 'presentation' },
    buildElement('div', {}, this.#logo, buildElement('div', {}, this.#payee, this.#domain)),
    this.#title,
    this.#amount,
    this.#item,
  );
  /** The ids of the parts that name the dialog. */
  static readonly ids = 'title amount item payee domain';
  /** The start of the payload: the currency and the amount of a payment, without the secret. */
  #money: Uint8Array | undefined;

  constructor() {
    // The name is enough.
    this.#logo.onerror = () => {
      this.#logo.hidden = true;
    };
  }

  open({ mode, payee }: Settings, { name, logo }: DialogConfig): void {
    const { hostname } = location;
    this.#money = undefined;
    this.#payee.textContent = payee || name || hostname;
    this.#domain.hidden = this.#payee.textContent === hostname;
    // The name of the dialog includes hidden parts.
    this.#domain.textContent = this.#domain.hidden ? '' : hostname;
    // An unchanged logo is not loaded again.
    if (!logo) this.#logo.hidden = true;
    else if (!this.#logo.src) {
      this.#logo.src = httpUrl(logo, 'logo');
      this.#logo.hidden = false;
    }
    for (const empty of [this.#amount, this.#item]) {
      empty.textContent = '\u00a0';
      empty.hidden = mode === 'login';
    }
  }

  /** Shows the title, and the amount in the current language. */
  label(settings: Settings, config: DialogConfig, title: string): void {
    const { mode, label } = settings;
    // A login can have another purpose, such as linking a wallet. Only the page's own button text names it.
    this.#title.textContent = (mode === 'login' && label) || title;
    this.#showAmount(settings, config);
  }

  /** Shows the signed amount. @returns it @throws {TypeError} for an unknown currency */
  showMoney(money: Uint8Array, settings: Settings, config: DialogConfig): string | undefined {
    this.#money = money;
    return this.#showAmount(settings, config);
  }

  /** Shows what the payer buys. */
  showItem(description: string): void {
    this.#item.textContent = description;
  }

  /** The signed amount; before it arrives, the one that the page knows. */
  #showAmount(settings: Settings, config: DialogConfig): string | undefined {
    const signed = this.#money && amountIn(this.#money, settings.locale);
    const amount = signed ?? amountOfPage(settings, config);
    // Screen readers announce a text each time it is set.
    if (amount && this.#amount.textContent !== amount) this.#amount.textContent = amount;
    this.fitAmount();
    return signed;
  }

  /** A number that breaks, or is cut off, can be read as another one: the stylesheet needs the width of the text, in em. */
  fitAmount(): void {
    const range = document.createRange();
    range.selectNodeContents(this.#amount);
    const { width } = range.getBoundingClientRect();
    const ems = width / Number.parseFloat(getComputedStyle(this.#amount).fontSize);
    // It has no width before the dialog is displayed.
    if (width) this.#amount.style.setProperty('--_ems', `${ems}`);
  }
}

/** The amount that the page has asked for, or that its button names. */
function amountOfPage({ mode, amount, label, locale }: Settings, { currency }: DialogConfig): string | undefined {
  if (mode === 'login') return undefined;
  if (!amount || !currency) return amountInLabel(label ?? '');
  const [whole, cents = ''] = `${amount}`.split('.');
  return localizeAmount(`${whole}.${cents.padEnd(2, '0')}`, currency, locale);
}
