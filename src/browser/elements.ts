import type { ButtonOptions } from './button-options.js';
import { IntentButtonElement } from './intent-button.js';
import { checkOptions } from './options.js';
import { requireThat } from './validation.js';

/** The attributes and properties of `<intent-button>`, for the types of templates (docs/vue.md). */
export interface IntentButtonAttributes extends ButtonOptions {
  /** The page to open after success; `{{INTENT_ID}}` becomes the id. */
  'success-url'?: string | undefined;
  /** The page to open after cancel. */
  'cancel-url'?: string | undefined;
  'wallet-url'?: string | undefined;
  disabled?: boolean | undefined;
}

export type { ButtonOptions } from './button-options.js';
export type { ButtonEvents, ButtonHandler, EventName, IntentButtonEventMap, User } from './events.js';
export type { Problem } from './flow/api.js';
export type { ElementRoutes } from './site-config.js';
export type { IntentButtonElement };

declare global {
  interface HTMLElementTagNameMap {
    'intent-button': IntentButtonElement;
  }
}

// If a bundle and the site both load the module, the first one defines the element.
const { customElements: registry } = globalThis;
if (!registry?.get('intent-button')) registry?.define('intent-button', IntentButtonElement);

/** Creates the elements of a page (interface section 4.8). */
export const elements = Object.freeze({
  /**
   * Creates an `<intent-button>` from options instead of attributes.
   * @throws {TypeError} for a name other than `button`, for an unknown option, and for a value of the wrong form
   */
  create(name: 'button', options: ButtonOptions = {}): { readonly button: IntentButtonElement } {
    requireThat(name === 'button', 'name', 'button');
    const button = document.createElement('intent-button');
    checkOptions(options);
    const settable = button as Record<string, unknown> & IntentButtonElement;
    for (const [name, value] of Object.entries(options)) settable[name] = value;
    return { button };
  },
});
