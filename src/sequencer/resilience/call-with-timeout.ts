import { listenForAbort } from '../../async/abort.js';
import { SequencerError } from '../../errors.js';
import type { Operation } from '../../wire/envelope.js';
import type { Transport, TryBounds } from '../transport.js';

/**
 * Sends a call once, within its time.
 *
 * This is not cockatiel's timeout policy, which has no word on whether it was the time or the caller that ended the call,
 * and costs two more signals.
 * @throws {SequencerError} `sequencer_timeout`, and what the transport throws
 */
export function boundedTry(
  transport: Transport,
  operation: Operation,
  body: Uint8Array,
  bounds: TryBounds,
): Promise<Uint8Array> {
  return transport.callWithin?.(operation, body, bounds) ?? timedTry(transport, operation, body, bounds);
}

/** Ends in time also where the transport does not look at its signal. */
async function timedTry(
  transport: Transport,
  operation: Operation,
  body: Uint8Array,
  { timeoutMs, signal, metadata }: TryBounds,
): Promise<Uint8Array> {
  const controller = new AbortController();
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const timer = setTimeout(() => end(noAnswer(timeoutMs)), timeoutMs);
    const unlisten = listenForAbort([signal], (aborted) => end(aborted.reason));
    stop = () => {
      clearTimeout(timer);
      unlisten();
    };
  });
  try {
    const options = { signal: controller.signal, ...(metadata && { metadata }) };
    return await Promise.race([transport.call(operation, body, options), ended]);
  } finally {
    stop();
  }
}

export function noAnswer(timeoutMs: number): SequencerError {
  const message = `The sequencer did not answer within ${Math.round(timeoutMs)} ms.`;
  return new SequencerError('sequencer_timeout', message);
}
