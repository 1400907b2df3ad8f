import type { Problem } from './flow/api.js';
import { requireThat } from './validation.js';

/** The user who is logged in. */
export interface User {
  /** Identifies the user at this domain, Base58. */
  readonly id: string;
}

/** The events of a button and their details (interface section 6). `intent` is an id. */
export interface ButtonEvents {
  /** The button or "Try again" was clicked. A handler that calls `update` replaces the built-in creation of the intent. */
  invoke: { readonly mode: 'payment' | 'login'; readonly order: unknown };
  /** For display only. */
  scanned: { readonly intent: string };
  /** The intent was submitted. For a login, its session has started. */
  success: { readonly intent: string; readonly user?: User | undefined };
  /** The dialog was closed without success. `intent` belongs to the last code shown since the click; undefined if none was shown. */
  cancel: {
    readonly intent: string | undefined;
    readonly reason: 'dismissed' | 'declined' | 'expired' | 'problem';
  };
  /**
   * A request, the dialog or a handler of the page failed. With `handler_failed`, or if the login of a payment failed, the
   * payment may have succeeded: only `success` reports that.
   */
  error: { readonly error: Problem };
}

/** The events `button.on` accepts. */
export type EventName = keyof ButtonEvents;

/**
 * The name of the DOM event. `cancel` and `error` are native events too: a dialog around the button would close, and the error
 * monitoring of the page would count a refusal as a crash.
 */
type DomEventName<Name extends EventName> = Name extends 'cancel' | 'error' ? `intent${Name}` : Name;

export const domEventName = (name: EventName): string => (/cancel|error/.test(name) ? `intent${name}` : name);

/** The DOM events of `<intent-button>` by name, for `addEventListener` and the types of JSX and templates (docs/react.md). */
export type IntentButtonEventMap = {
  [Name in EventName as DomEventName<Name>]: CustomEvent<ButtonEvents[Name]>;
};

/** The methods of the element for its own events. */
export interface ButtonEventTarget {
  addEventListener<Name extends keyof IntentButtonEventMap>(
    name: Name,
    listener: (event: IntentButtonEventMap[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<Name extends keyof IntentButtonEventMap>(
    name: Name,
    listener: (event: IntentButtonEventMap[Name]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void;
}

/**
 * The button awaits its handlers. If a handler of `success` or `cancel` returns `true`, the button does not redirect. If a handler
 * of `invoke` returns `true`, the button does not create an intent and waits for `update`.
 */
export type ButtonHandler<Name extends EventName> = (detail: ButtonEvents[Name]) => unknown;

/** Calls all handlers; resolves to whether one of them prevented the default action. */
export type Emit = <Name extends EventName>(name: Name, detail: ButtonEvents[Name]) => Promise<boolean>;

const eventNames: readonly string[] = ['invoke', 'scanned', 'success', 'cancel', 'error'] satisfies EventName[];

/** @throws {TypeError} for an unknown event, and for a handler that is not a function */
export function requireHandler(name: string, handler: unknown): void {
  requireThat(eventNames.includes(name), 'event', `one of ${eventNames.join(', ')}`);
  requireThat(typeof handler === 'function', 'handler', 'a function');
}
