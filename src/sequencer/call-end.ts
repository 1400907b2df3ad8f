import { EventEmitter } from 'node:events';
import { SequencerError } from '../errors.js';
import type { TryOptions } from './transport.js';

/**
 * Ends a call before its answer: when its time is over, or its caller says so. To undici it is as good as an AbortSignal,
 * which costs some thirty times as much.
 */
export class CallEnd extends EventEmitter {
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #leave = (): void => this.#end(this.#signal?.reason);
  aborted = false;
  reason: unknown;

  constructor({ signal, timeoutMs }: TryOptions) {
    super();
    this.#signal = signal;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#end(noAnswer(timeoutMs)), timeoutMs);
    if (signal?.aborted) this.#end(signal.reason);
    else signal?.addEventListener('abort', this.#leave);
  }

  /** The call has ended by itself. */
  release(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#leave);
  }

  #end(reason: unknown): void {
    this.aborted = true;
    this.reason = reason;
    this.emit('abort');
  }
}

export function noAnswer(timeoutMs: number): SequencerError {
  const message = `The sequencer did not answer within ${Math.round(timeoutMs)} ms.`;
  return new SequencerError('sequencer_timeout', message);
}
