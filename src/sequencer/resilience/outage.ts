import { SequencerError, type SequencerErrorCode } from '../../errors.js';

const unreachedCodes: ReadonlySet<string> = new Set([
  'sequencer_unreachable',
  'sequencer_timeout',
  'sequencer_unavailable',
] satisfies SequencerErrorCode[]);

/** Whether a call could not reach the sequencer. */
export const isUnreached = (error: unknown): error is SequencerError =>
  error instanceof SequencerError && unreachedCodes.has(error.code);

/** Whether the sequencer answered a call, if with an error. A 5xx can come from a proxy in front of it. */
export const isAnswered = (error: unknown): boolean =>
  error === undefined ||
  (error instanceof SequencerError && !unreachedCodes.has(error.code) && (error.httpStatus ?? 0) < 500);

const counted = new WeakSet<Error>();

/** Notes that a failure is part of an outage, which has log lines of its own. */
export const noteCounted = (error: Error): void => void counted.add(error);

/** Whether a failure needs no log line of its own. */
export const isCounted = (error: unknown): boolean => error instanceof Error && counted.has(error);
