import { SequencerError } from '../../errors.js';

/** What a failed try says of the service. */
export type Verdict = 'alive' | 'failing' | 'unknown';

/**
 * Failing is a service that cannot be reached, does not answer, or answers that it fails. One that refuses, or whose answer
 * cannot be read, is alive: leaving it alone would mend nothing. A caller who has left says nothing of the service.
 */
export function judge(error: unknown): Verdict {
  if (!(error instanceof SequencerError)) return 'unknown';
  const { code, httpStatus = 0 } = error;
  const isFailing = code === 'sequencer_unreachable' || code === 'sequencer_timeout' || httpStatus >= 500;
  return isFailing ? 'failing' : 'alive';
}

/** Too many requests, bad gateway, unavailable, gateway time-out. */
const passingStatuses: readonly (number | undefined)[] = [429, 502, 503, 504];

/**
 * Whether the same bytes may well succeed when they are sent again. Not after a refusal or an answer that cannot be read,
 * which would come again; and not after status 500, with which a service says that it fell over these very bytes.
 */
export function mayPass(error: unknown): error is SequencerError {
  if (!(error instanceof SequencerError)) return false;
  const { code, httpStatus } = error;
  return code === 'sequencer_unreachable' || code === 'sequencer_timeout' || passingStatuses.includes(httpStatus);
}
