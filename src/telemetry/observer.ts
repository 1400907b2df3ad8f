import type { IntentErrorCode } from '../errors.js';
import type { Happening } from './router-event.js';

/** A request for one of the router's routes. */
export interface ObservedRequest {
  readonly method: string;
  /** The path with its variable parts named, such as `/status/:id`. */
  readonly route: string;
  /** The id of an intent, where the path has one that may be one. */
  readonly intent: string | undefined;
}

/** What came of it. */
export interface RequestOutcome {
  /** The HTTP status; undefined where the client had left. */
  readonly status: number | undefined;
  readonly code: IntentErrorCode | undefined;
}

/** A call of a hook of the site. */
export interface ObservedHook {
  readonly hook: string;
  readonly intent: string;
  readonly attempt: number;
}

/**
 * Who looks on while the router works. Where nobody does there is no observer, and nothing is made for one. Nothing that
 * it does itself throws, or waits.
 */
export interface Observer {
  /** Something has happened. */
  tell(happening: Happening): void;
  /** Runs the answer to a request. */
  route(request: ObservedRequest, answer: () => Promise<RequestOutcome>): Promise<void>;
  /** Runs the work on a payment that is due. */
  settle(intent: string, work: () => Promise<void>): Promise<void>;
  /** Runs a hook. */
  hook<Value>(call: ObservedHook, run: () => Promise<Value>): Promise<Value>;
}
