import { attributeOf, type ButtonOptions, type OptionName, optionNames } from './button-options.js';
import { buildElement, svgAttributes } from './dialog/build-element.js';
import {
  type ButtonEvents,
  type ButtonEventTarget,
  type ButtonHandler,
  domEventName,
  type EventName,
  requireHandler,
} from './events.js';
import { toProblem } from './flow/api.js';
import { decodeClientSecret } from './flow/client-secret.js';
import { IntentFlow } from './flow/intent-flow.js';
import { preloadDialog } from './flow/on-demand-files.js';
import css from './intent-button.css';
import { checkOptions, resolveSettings, type Settings } from './options.js';
import { siteConfig } from './site-config.js';
import { buttonTextsOf } from './texts/button-texts.js';
import { requireThat, tryOrUndefined } from './validation.js';

// Without a page, as in server-side rendering, the module can still be loaded.
const Base = (globalThis.HTMLElement ?? class {}) as new () => ButtonEventTarget & HTMLElement & ButtonOptions;

/** In a bundle the accent arrives after the first button, so no button has it. */
const styles = css + (siteConfig.css ?? '');

/**
 * In HTML that a framework renders on the server, until it has set the properties and handlers. A pending payment that is reported
 * earlier is reported to nobody.
 */
const hydratingAttribute = 'data-hydrating';

/** `<intent-button>`: a button for a payment or a login (interface section 4.8). */
export class IntentButtonElement extends Base {
  static readonly observedAttributes = [...optionNames.map(attributeOf), hydratingAttribute, 'lang'];
  /** Like a button, it is disabled in a disabled fieldset, and has labels. It has no value, so a form sends nothing of it. */
  static readonly formAssociated = true;

  /** No prototype, as in the settings: a polluted one must not choose the label or the wallet. */
  readonly #options = { __proto__: null } as ButtonOptions;
  #handlers: (readonly [event: string, handler: ButtonHandler<EventName>])[] = [];
  /** The content of the element. If it has a text, it is the label. */
  readonly #content = buildElement('slot');
  readonly #label = buildElement('span');
  readonly #button = buildElement(
    'button',
    { part: 'button', 'aria-haspopup': 'dialog' },
    icon(),
    buildElement('span', { part: 'label' }, this.#content, this.#label),
  );
  readonly #note = buildElement('p', { part: 'note', role: 'status', dir: 'auto' });
  readonly #flow: IntentFlow;
  readonly #languages = new MutationObserver(() => this.#showLabel());
  #restoreTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the visitor has clicked the button before a framework has set its properties and handlers. */
  #wasClicked = false;

  static {
    for (const name of optionNames) {
      Object.defineProperty(IntentButtonElement.prototype, name, {
        get(this: IntentButtonElement) {
          return this.#options[name];
        },
        set(this: IntentButtonElement, value: never) {
          this.#set(name, value);
        },
      });
    }
  }

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets = [sheet];
    const busy = (isBusy: boolean, text: string): void => {
      this.toggleAttribute('data-busy', isBusy);
      this.#button.setAttribute('aria-busy', `${isBusy}`);
      this.#note.textContent = text;
    };
    this.#flow = new IntentFlow(
      {
        element: this,
        root,
        showBusy: (text) => busy(true, text),
        showNote: (text) => busy(false, text),
      },
      () => this.#settings(),
      (name, detail) => this.#emit(name, detail),
    );
    // A click on a label of the element, and `click()`, reach the element without the button in it.
    this.addEventListener('click', (event) => {
      const path = event.composedPath();
      if ((path[0] !== this && !path.includes(this.#button)) || this.#button.disabled) return;
      if (this.hasAttribute(hydratingAttribute)) this.#wasClicked = true;
      else void this.#runAndReportErrors(() => this.#flow.start());
    });
    for (const event of ['pointerenter', 'focus']) this.#button.addEventListener(event, () => this.#preload());
    root.append(this.#button, this.#note);
    const showLabel = (): void => this.#showLabel();
    // A slot does not report a changed text, and an element not what another component passes on to it.
    this.#content.onslotchange = showLabel;
    new MutationObserver(showLabel).observe(this, { childList: true, characterData: true, subtree: true });
    for (const name of [...optionNames, 'disabled'] as const) {
      // A property that was set before the element was defined hides the accessor of the class.
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name] as never;
      delete (this as ButtonOptions & { disabled?: boolean })[name];
      this[name] = value;
    }
  }

  /** Adds a handler. Asynchronous handlers are awaited one after the other. @throws {TypeError} */
  on<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    this.#handlers = [...this.#handlers, [event, handler as never]];
    return this;
  }

  /** Removes a handler. @throws {TypeError} */
  off<Name extends EventName>(event: Name, handler: ButtonHandler<Name>): this {
    requireHandler(event, handler);
    this.#handlers = this.#handlers.filter(([name, each]) => name !== event || each !== handler);
    return this;
  }

  /** Sets the client secret of an intent that the page created. @throws {TypeError} */
  update({ clientSecret }: { readonly clientSecret: string }): this {
    decodeClientSecret(clientSecret, this.#settings().mode);
    this.#flow.provideSecret(clientSecret);
    return this;
  }

  /** Appends the button to an element of the page. @throws {TypeError} if there is no such element */
  mount(target: string | Element): this {
    const place = typeof target === 'string' ? tryOrUndefined(() => document.querySelector(target)) : target;
    requireThat(place instanceof Element, 'target', 'an element of this page');
    place.append(this);
    return this;
  }

  /** Removes the button from the page. A pending intent is restored when the button returns. */
  unmount(): this {
    this.remove();
    return this;
  }

  get disabled(): boolean {
    return this.hasAttribute('disabled');
  }

  set disabled(isDisabled: boolean) {
    this.toggleAttribute('disabled', isDisabled);
  }

  /** Called by the browser, also for a fieldset around the element. */
  formDisabledCallback(isDisabled: boolean): void {
    this.#button.disabled = isDisabled;
  }

  connectedCallback(): void {
    this.#flow.reopen();
    // The language around the element can change.
    for (let node: Node | undefined = this; node; node = (node as ShadowRoot).host) {
      node = node.getRootNode();
      this.#languages.observe(node, { subtree: true, attributeFilter: ['lang'] });
    }
    this.attributeChangedCallback();
  }

  /** `moveBefore` keeps the dialog open. */
  connectedMoveCallback(): void {
    this.attributeChangedCallback();
  }

  disconnectedCallback(): void {
    // A page that moves the element removes and inserts it in one task.
    this.#languages.disconnect();
    setTimeout(() => this.isConnected || this.#flow.leave());
  }

  attributeChangedCallback(): void {
    this.#showLabel();
    if (!this.isConnected) return;
    // Deferred until all attributes and properties are set, and only then are invalid ones reported. After the order changes, the
    // new order may have a pending intent of its own.
    clearTimeout(this.#restoreTimer);
    if (this.hasAttribute(hydratingAttribute)) return;
    this.#restoreTimer = setTimeout(() => {
      const act = this.#wasClicked ? () => this.#flow.start() : () => this.#flow.restore();
      this.#wasClicked = false;
      void this.#runAndReportErrors(act);
    });
  }

  #settings(): Settings {
    return resolveSettings(this, this.#options, () => this.#contentText());
  }

  /** The text of the content, also of what another component passes on to it. */
  #contentText(): string {
    const nodes = this.#content.assignedNodes({ flatten: true }) as HTMLImageElement[];
    const texts = nodes.map((node) => node.textContent || node.alt || node.querySelector?.('img')?.alt);
    return texts.join(' ').trim();
  }

  #showLabel(): void {
    this.#label.hidden = !!this.#contentText();
    const settings = tryOrUndefined(() => this.#settings());
    if (settings) this.#label.textContent = settings.label || buttonTextsOf(settings.locale)[settings.mode];
    this.#flow.translate();
  }

  #preload(): void {
    const settings = tryOrUndefined(() => this.#settings());
    if (settings) preloadDialog(settings.locale);
  }

  #set(name: OptionName, value: never): void {
    // Visitors enter an amount. A property that throws would unmount a React app, so this one is checked when it is used.
    if (name !== 'amount') checkOptions({ [name]: value });
    const secretBefore = this.login?.clientSecret;
    this.#options[name] = value;
    // An undefined option must not hide the attribute.
    if (value === undefined) delete this.#options[name];
    // The style sheet reads this attribute.
    if (name === 'appearance' && value) this.setAttribute(name, value);
    else if (name === 'appearance') this.removeAttribute(name);
    const secret = this.login?.clientSecret;
    // Frameworks set equal objects again.
    if (secret && secret !== secretBefore) this.#flow.provideSecret(secret);
    this.attributeChangedCallback();
  }

  /** Reports errors: callbacks of the browser have no caller to catch them. */
  async #runAndReportErrors(act: () => unknown): Promise<void> {
    try {
      if (siteConfig.load) {
        await siteConfig.load(this.#settings().routes);
        // The site can have a text of its own.
        this.#showLabel();
      }
      if (this.isConnected) await act();
    } catch (error) {
      this.#report(error);
    }
  }

  async #emit<Name extends EventName>(name: Name, detail: ButtonEvents[Name]): Promise<boolean> {
    let isPrevented = !this.dispatchEvent(new CustomEvent(domEventName(name), { detail, cancelable: true }));
    for (const [event, handler] of this.#handlers) {
      try {
        if (event === name && (await handler(detail)) === true) isPrevented = true;
      } catch (error) {
        if (name === 'invoke') throw toProblem(error, 'handler_failed');
        // The other events report what happened: a failed handler does not change it.
        this.#report(error, name === 'error');
      }
    }
    return isPrevented;
  }

  #report(error: unknown, isOfErrorHandler = false): void {
    reportError(error);
    if (isOfErrorHandler) return;
    void this.#emit('error', { error: toProblem(error, 'handler_failed') });
  }
}

/** A wallet, 24 by 24 units; and the arc that replaces it, and turns, while the button is busy. */
const icon = (): SVGElement =>
  buildElement(
    'svg',
    { part: 'icon', ...svgAttributes },
    buildElement('path', { d: 'M17 8V4H4v16h17V8H4M17 14v.1' }),
    buildElement('path', { d: 'M12 3a9 9 0 1 1-9 9' }),
  );
