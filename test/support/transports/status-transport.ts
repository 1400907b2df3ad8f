import type { IntentStatus } from '../../../src/sequencer/calls.js';
import type { AttemptOptions, Transport } from '../../../src/sequencer/transport.js';
import { encode, v1 } from '../../../src/wire/codec.js';
import type { Operation } from '../../../src/wire/envelope.js';
import { plainSuccess } from '../sequencers/fault-sequencer.js';

export const pending: IntentStatus = { exists: true, codeScanned: false, intentSubmitted: false };
export const scanned: IntentStatus = { exists: true, codeScanned: true, intentSubmitted: false };
export const submitted: IntentStatus = { exists: true, codeScanned: true, intentSubmitted: true };
export const unknown: IntentStatus = { exists: false, codeScanned: false, intentSubmitted: false };

/** A transport whose status responses the test sets, and which counts its calls. */
export class StatusTransport implements Transport {
  /** The number of status calls. */
  callCount = 0;
  /** The number of these calls that were aborted. */
  aborted = 0;
  /** The response: a status, an error, or none until it is set. */
  answer: IntentStatus | Error | 'nothing' = pending;
  #waiting: (() => void)[] = [];

  async call({ method }: Operation, _body: Uint8Array, { signal }: AttemptOptions = {}): Promise<Uint8Array> {
    if (method !== 'getStatus') return plainSuccess(method);
    this.callCount += 1;
    while (this.answer === 'nothing') await this.#changed(signal);
    if (this.answer instanceof Error) throw this.answer;
    return encode(v1.GetStatusResponse, this.answer);
  }

  /** Sets the response, also for waiting calls. */
  answerWith(answer: IntentStatus | Error | 'nothing'): void {
    this.answer = answer;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async close(): Promise<void> {}

  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      signal?.addEventListener('abort', () => {
        this.aborted += 1;
        reject(signal.reason);
      });
    });
  }
}
