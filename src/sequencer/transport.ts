import type { Operation } from '../wire/envelope.js';
import type { Abortable } from './abort-listener.js';

/** How one call may be bounded by its caller. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * From when it is aborted on nothing more is sent: a call that waits rejects with the signal's reason, one that was sent
   * goes on to its end, and is not repeated. For what may have an effect on behalf of somebody who may leave.
   */
  readonly sendUntil?: Abortable | undefined;
}

/** What a transport that keeps time is told besides. */
export interface TryOptions extends CallOptions {
  /** How long this try may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The seam between the operations and the way to the sequencer (interface sections 4.1 and 4.2).
 *
 * `call` takes a serialized inner message and gives the serialized inner answer. Whatever goes wrong on the way comes
 * out as a `SequencerError`. A transport sends a call once, and ends when its signal is aborted. The client does the rest
 * around it: time-outs, repeats, `sendUntil`, and leaving alone a service that fails.
 */
export interface Transport {
  call(operation: Operation, body: Uint8Array, options?: TryOptions): Promise<Uint8Array>;
  /**
   * Says that `call` ends by itself, with `sequencer_timeout`, when the `timeoutMs` of its options are over. Otherwise its
   * signal is aborted then, and a signal for every call is dear: it costs half as much as a call over HTTP.
   */
  readonly keepsTime?: boolean;
  /**
   * A call with many answers (interface section 4.5): yields the serialized inner answers until the service ends the
   * stream, and throws a `SequencerError` when the stream breaks. Leaving the loop closes it upstream. A transport
   * that has no streams leaves this out; the status is asked for instead.
   */
  openStream?(operation: Operation, body: Uint8Array, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Lets running calls end, then gives back what the transport holds. */
  close(): Promise<void>;
}
