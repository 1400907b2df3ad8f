import type { Operation } from '../wire/envelope.js';

/** Who looks on while the service is called. Nothing of it may throw. */
export interface CallObserver {
  /** A call begins, which may wait for its turn before it is sent. Undefined where nobody wants to know. */
  begin(operation: Operation): ObservedCall | undefined;
  /** The service is left alone for some seconds with this operation, or answers again. */
  breaker(operation: Operation, isOpen: boolean): void;
}

/** One call, over all its tries. */
export interface ObservedCall {
  /** What is sent along with every try. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** Makes one try. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  /**
   * @param failure undefined for a call that was answered
   * @param hasLeft whether nobody waits for the answer any more
   */
  end(failure: unknown, hasLeft: boolean): void;
}
