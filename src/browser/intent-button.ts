import { attempt } from './attempt.js';
import { begin, give, retry } from './begin.js';
import { closed, stop } from './end.js';
import { type ButtonEvents, type ButtonHandler, type EventName, requireHandler } from './events.js';
import { restore } from './follow.js';
import css from './intent-button.css';
import { IntentDialog } from './intent-dialog.js';
import { createFlow, type IntentFlow } from './intent-flow.js';
import { loadTexts, localeOf } from './locale.js';
import { drawing, make } from './make.js';
import { type ButtonOptions, checkOption, type OptionName, optionNames } from './options.js';
import { problemOf } from './problem.js';
import { requireThat } from './require-that.js';
import { readSettings, type Settings } from './settings.js';

// Where there is no page, as on a server that renders one, the module can still be loaded.
const Base = (globalThis.HTMLElement ?? class {}) as new () => HTMLElement & ButtonOptions;

let sheet: CSSStyleSheet | undefined;

/** `<intent-button>`: a button that takes a payment or a login (interface section 4.8). */
export class IntentButton extends Base {
  static readonly observedAttributes = ['mode', 'label', 'locale', 'lang'];

  readonly #options: ButtonOptions = {};
  #handlers: (readonly [event: string, handler: ButtonHandler<EventName>])[] = [];
  readonly #label = make('slot');
  readonly #flow: IntentFlow;

  static {
    for (const name of optionNames) {
      Object.defineProperty(IntentButton.prototype, name, {
        get(this: IntentButton) {
          return this.#options[name];
        },
        set(this: IntentButton, value: never) {
          this.#set(name, value);
        },
      });
    }
  }

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
    }
    root.adoptedStyleSheets = [sheet];
    const dialog: IntentDialog = new IntentDialog(
      this,
      () => void closed(this.#flow),
      () => retry(this.#flow),
    );
    this.#flow = createFlow(
      dialog,
      () => this.#settings(),
      (name, detail) => this.#emit(name, detail),
    );
    const button = make('button', { part: 'button', 'aria-haspopup': 'dialog' }, icon(), this.#label);
    button.onclick = () => begin(this.#flow).catch((error) => this.#report(error));
    root.append(button, dialog.element);
    for (const name of optionNames) this.#adopt(name);
  }

  /** Listens. Handlers may be asynchronous; they are called one after the other. @throws {TypeError} */
  on<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    this.#handlers = [...this.#handlers, [event, handler as ButtonHandler<EventName>]];
    return this;
  }

  /** Listens no more. @throws {TypeError} */
  off<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    this.#handlers = this.#handlers.filter(([name, each]) => name !== event || each !== handler);
    return this;
  }

  /** Hands over the secret of an intent that the page has created itself. @throws {TypeError} */
  update({ clientSecret }: { readonly clientSecret: string }): this {
    give(this.#flow, clientSecret);
    return this;
  }

  /** Puts the button into the page, at the end of an element. @throws {TypeError} when there is no such element */
  mount(target: string | Element): this {
    const place = typeof target === 'string' ? attempt(() => document.querySelector(target)) : target;
    requireThat(place instanceof Element, 'target', 'an element');
    place.append(this);
    return this;
  }

  /** Takes the button out of the page; an intent that is pending is looked after when it comes back. */
  unmount(): this {
    this.remove();
    return this;
  }

  connectedCallback(): void {
    this.attributeChangedCallback();
    // What else is said of the element is said by then.
    setTimeout(() => this.isConnected && this.#attempt(() => restore(this.#flow)));
  }

  disconnectedCallback(): void {
    stop(this.#flow);
  }

  attributeChangedCallback(): void {
    if (!this.isConnected) return;
    this.#attempt(() => {
      const { label, mode, locale } = this.#settings();
      void loadTexts(locale).then(() => {
        this.#label.textContent = label ?? localeOf(locale).texts[mode];
      });
    });
  }

  #settings(): Settings {
    return readSettings(this, this.#options);
  }

  #set(name: OptionName, value: never): void {
    checkOption(name, value);
    this.#options[name] = value;
    // What is not said is as if it had never been.
    if (value === undefined) delete this.#options[name];
    if (name === 'appearance') this.setAttribute(name, value);
    const { clientSecret } = (name === 'login' && this.#options.login) || ({} as { clientSecret?: string });
    if (clientSecret) give(this.#flow, clientSecret);
    this.attributeChangedCallback();
  }

  /** A property that was set before the browser knew this element hides the one of the class. */
  #adopt(name: OptionName): void {
    if (!Object.hasOwn(this, name)) return;
    const value = this[name] as never;
    delete this[name];
    this.#set(name, value);
  }

  /** An attribute may be wrong at any time, and then is nobody's to catch. */
  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#report(error);
    }
  }

  async #emit<Name extends EventName>(name: Name, detail: ButtonEvents[Name]): Promise<boolean> {
    const options = { detail, bubbles: true, composed: true, cancelable: true };
    let isStopped = !this.dispatchEvent(new CustomEvent(name, options));
    for (const [event, handler] of this.#handlers) {
      try {
        if (event === name && (await handler(detail)) === true) isStopped = true;
      } catch (error) {
        if (name === 'invoke') throw problemOf(error, 'handler_failed');
        // What happened has happened, whatever the page makes of it.
        this.#report(error, name === 'error');
      }
    }
    return isStopped;
  }

  #report(error: unknown, isOfErrorHandler = false): void {
    reportError(error);
    if (isOfErrorHandler) return;
    void this.#emit('error', { error: problemOf(error, 'handler_failed') });
  }
}

/** A wallet. */
const icon = (): SVGElement =>
  make('svg', { part: 'icon', ...drawing }, make('path', { d: 'M17 8V4H4v16h17V8H4M17 14v.1' }));
