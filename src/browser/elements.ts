import { IntentButton } from './intent-button.js';
import { type ButtonOptions, checkOption } from './options.js';
import { requireThat } from './require-that.js';

export type { User } from './complete-login.js';
export type { ButtonEvents, ButtonHandler, EventName } from './events.js';
export type { ButtonOptions } from './options.js';
export type { Problem } from './problem.js';
export type { ReturnAddress } from './return-url.js';
export type { ElementRoutes } from './site-config.js';
export type { IntentButton };

declare global {
  interface HTMLElementTagNameMap {
    'intent-button': IntentButton;
  }
}

// Loaded twice, as by a bundle and the site, the first one counts.
const { customElements: registry } = globalThis;
if (registry && !registry.get('intent-button')) registry.define('intent-button', IntentButton);

/** Makes the elements of a page (interface section 4.8). */
export const elements = Object.freeze({
  /**
   * Makes an `<intent-button>` that is told by options instead of attributes.
   * @throws {TypeError} for another name than `button`, and for options that there are not or that cannot be
   */
  create(name: 'button', options: ButtonOptions = {}): { readonly button: IntentButton } {
    requireThat(name === 'button', 'element', 'button');
    const button = document.createElement('intent-button');
    for (const [option, value] of Object.entries(options)) checkOption(option, value);
    return { button: Object.assign(button, options) };
  },
});
