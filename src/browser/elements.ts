import { IntentButton } from './intent-button.js';
import { type ButtonOptions, checkOptions } from './options.js';
import { requireThat } from './validation.js';

export type { ButtonEvents, ButtonHandler, EventName, User } from './events.js';
export type { Problem } from './flow/api.js';
export type { ButtonOptions } from './options.js';
export type { ElementRoutes } from './site-config.js';
export type { IntentButton };

declare global {
  interface HTMLElementTagNameMap {
    'intent-button': IntentButton;
  }
}

// If a bundle and the site both load the module, the first one defines the element.
const { customElements: registry } = globalThis;
if (registry && !registry.get('intent-button')) registry.define('intent-button', IntentButton);

/** Creates the elements of a page (interface section 4.8). */
export const elements = Object.freeze({
  /**
   * Creates an `<intent-button>` from options instead of attributes.
   * @throws {TypeError} for a name other than `button`, for an unknown option, and for a value of the wrong form
   */
  create(name: 'button', options: ButtonOptions = {}): { readonly button: IntentButton } {
    requireThat(name === 'button', 'element', 'button');
    const button = document.createElement('intent-button');
    checkOptions(options);
    return { button: Object.assign(button, options) };
  },
});
