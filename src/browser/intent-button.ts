import { type ButtonEvents, type ButtonHandler, type EventName, requireHandler } from './events.js';
import css from './intent-button.css';
import { IntentDialog } from './intent-dialog.js';
import { IntentFlow } from './intent-flow.js';
import { loadTexts, localeOf } from './locale.js';
import { make, svg } from './make.js';
import { type ButtonOptions, checkOption, type OptionName, optionNames } from './options.js';
import { Problem } from './problem.js';
import { readSettings, type Settings } from './settings.js';

// Where there is no page, as on a server that renders one, the module can still be loaded.
const Base = (globalThis.HTMLElement ?? class {}) as new () => HTMLElement & ButtonOptions;

let sheet: CSSStyleSheet | undefined;

/** `<intent-button>`: a button that takes a payment or a login (interface section 4.8). */
export class IntentButton extends Base {
  static readonly observedAttributes = ['mode', 'label', 'locale', 'lang'];

  readonly #options: ButtonOptions = {};
  readonly #handlers = new Map<string, ButtonHandler<EventName>[]>();
  readonly #button = make('button', { part: 'button', type: 'button', 'aria-haspopup': 'dialog' });
  readonly #label = make('slot');
  readonly #flow: IntentFlow;
  #connected: AbortController | undefined;

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
    const dialog = new IntentDialog(this, {
      closed: () => void this.#flow.closed(),
      retry: () => this.#flow.retry(),
    });
    this.#flow = new IntentFlow(
      dialog,
      () => this.#settings(),
      (name, detail) => this.#emit(name, detail),
    );
    this.#button.append(icon(), this.#label);
    this.#button.addEventListener('click', () => this.#begin());
    for (const event of ['pointerenter', 'focus']) this.#button.addEventListener(event, () => this.#flow.prepare());
    root.append(this.#button, dialog.element);
    for (const name of optionNames) this.#adopt(name);
  }

  /** Listens. Handlers may be asynchronous; they are called one after the other. @throws {TypeError} */
  on<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler as ButtonHandler<EventName>]);
    return this;
  }

  /** Listens no more. @throws {TypeError} */
  off<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    const left = this.#handlers.get(event)?.filter((each) => each !== handler) ?? [];
    this.#handlers.set(event, left);
    return this;
  }

  /** Hands over the secret of an intent that the page has created itself. @throws {TypeError} */
  update({ clientSecret }: { readonly clientSecret: string }): this {
    this.#flow.give(clientSecret);
    return this;
  }

  /** Puts the button into the page, at the end of an element. @throws {TypeError} when there is no such element */
  mount(target: string | Element): this {
    const place = typeof target === 'string' ? find(target) : target;
    if (!(place instanceof Element)) throw new TypeError(`There is no element ${String(target)}`);
    place.append(this);
    return this;
  }

  /** Takes the button out of the page; an intent that is pending is looked after when it comes back. */
  unmount(): this {
    this.remove();
    return this;
  }

  connectedCallback(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    addEventListener('pageshow', ({ persisted }) => persisted && this.#flow.resume(), { signal });
    this.attributeChangedCallback();
    // What else is said of the element is said by then.
    setTimeout(() => signal.aborted || this.#attempt(() => this.#flow.restore()));
  }

  disconnectedCallback(): void {
    this.#connected?.abort();
    this.#flow.stop();
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

  #begin(): void {
    this.#flow.begin().catch((error) => this.#report(error));
  }

  #set(name: OptionName, value: never): void {
    checkOption(name, value);
    this.#options[name] = value;
    if (name === 'appearance') this.setAttribute(name, value);
    if (name === 'login') this.#give();
    this.attributeChangedCallback();
  }

  #give(): void {
    const { clientSecret } = this.#options.login ?? {};
    if (clientSecret) this.#flow.give(clientSecret);
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
    const event = new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true });
    let isStopped = !this.dispatchEvent(event);
    for (const handler of this.#handlers.get(name) ?? []) {
      try {
        if ((await handler(detail)) === true) isStopped = true;
      } catch (error) {
        if (name === 'invoke') throw new Problem('handler_failed', -1, String(error), { cause: error });
        // What happened has happened, whatever the page makes of it.
        this.#report(error, name === 'error');
      }
    }
    return isStopped;
  }

  #report(error: unknown, isOfErrorHandler = false): void {
    reportError(error);
    if (isOfErrorHandler) return;
    void this.#emit('error', { error: new Problem('handler_failed', -1, String(error), { cause: error }) });
  }
}

function find(selector: string): Element | null {
  try {
    return document.querySelector(selector);
  } catch {
    return null;
  }
}

/** A wallet, in a square of 24. */
const icon = (): SVGElement =>
  svg(
    'svg',
    { part: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    svg('path', {
      d: 'M18 7.5V6a2 2 0 0 0-2-2H5.5a2 2 0 1 0 0 4H19a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5.5a2 2 0 0 1-2-2V6M17 14v.1',
    }),
  );
