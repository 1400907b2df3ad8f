import type { User } from './complete-login.js';
import type { Problem } from './problem.js';
import { requireThat } from './require-that.js';

/** What the events of a button carry (interface section 6). `intent` is an id. */
export interface ButtonEvents {
  /** The person has clicked. A handler that calls `update` replaces the built-in creation of the intent. */
  invoke: { readonly mode: 'payment' | 'login'; readonly order: unknown };
  /** For display only. */
  scanned: { readonly intent: string };
  /** Confirmed; in a login the session is there. */
  success: { readonly intent: string; readonly user?: User | undefined };
  /** The person has closed the dialog: `dismissed`, or after one of the others. `intent` is missing where there is none yet. */
  cancel: {
    readonly intent: string | undefined;
    readonly reason: 'dismissed' | 'rejected' | 'expired' | 'problem';
  };
  /** It did not work. */
  error: { readonly error: Problem };
}

/** What `button.on` takes. */
export type EventName = keyof ButtonEvents;

/** May be asynchronous, and is waited for. `true` from success or cancel stops the redirect. */
export type ButtonHandler<Name extends EventName> = (detail: ButtonEvents[Name]) => unknown;

/** Tells everyone who listens; resolves to whether somebody has stopped what would follow. */
export type Emit = <Name extends EventName>(name: Name, detail: ButtonEvents[Name]) => Promise<boolean>;

const eventNames: readonly string[] = ['invoke', 'scanned', 'success', 'cancel', 'error'] satisfies EventName[];

/** @throws {TypeError} for an event that there is not, and for a handler that cannot be called */
export function requireHandler(name: string, handler: unknown): void {
  requireThat(eventNames.includes(name), `event ${name}`, `one of ${eventNames}`);
  requireThat(typeof handler === 'function', 'handler', 'a function');
}
