import { SequencerError, type SequencerErrorCode } from '../../../src/errors.js';
import type { AttemptOptions, Transport } from '../../../src/sequencer/transport.js';
import type { Operation } from '../../../src/wire/envelope.js';

/** One received call; `n` counts the calls of this transport from 1, `atMs` is the time since its creation. */
export interface PlayedCall {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly options: AttemptOptions;
  readonly n: number;
  readonly atMs: number;
}

export type Play = (call: PlayedCall) => Promise<Uint8Array> | Uint8Array;

export interface PlayingTransport extends Transport {
  readonly calls: PlayedCall[];
  closed: number;
  /** Changes the behavior. */
  play(next: Play): void;
}

/** A transport that handles each call as the test sets. */
export function playingTransport(first: Play = ok): PlayingTransport {
  const calls: PlayedCall[] = [];
  const begunAtMs = performance.now();
  let play = first;
  return {
    calls,
    closed: 0,
    play: (next) => {
      play = next;
    },
    call: async (operation, body, options = {}) => {
      const call = { operation, body, options, n: calls.length + 1, atMs: performance.now() - begunAtMs };
      calls.push(call);
      return play(call);
    },
    async close() {
      this.closed += 1;
    },
  };
}

export const answer = Uint8Array.of(4, 5, 6);
export const ok: Play = () => answer;

/** Fails every call with this code, or with this HTTP status. */
export function failing(code: SequencerErrorCode, details: { httpStatus?: number; retryAfterMs?: number } = {}): Play {
  return () => {
    throw new SequencerError(code, `It is ${code}.`, details);
  };
}
export const failingWithStatus = (httpStatus: number, retryAfterMs?: number): Play =>
  failing('sequencer_bad_status', { httpStatus, ...(retryAfterMs !== undefined && { retryAfterMs }) });

/** Never responds; ends when its signal aborts. */
export const stalling: Play = ({ options: { signal } }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Responds after a delay. */
export const slow =
  (afterMs: number): Play =>
  () =>
    new Promise((resolve) => setTimeout(() => resolve(answer), afterMs));

/** Behaves in one way after the other, and repeats the last one. */
export const inTurn =
  (...plays: Play[]): Play =>
  (call) =>
    (plays[Math.min(call.n, plays.length) - 1] as Play)(call);
