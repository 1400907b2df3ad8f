import { SequencerError } from '../../errors.js';

/** The handshake was answered with another HTTP status than 101; a redirect is one of these. */
export function badStatus(httpStatus: number): SequencerError {
  return new SequencerError('sequencer_bad_status', `The sequencer answered with HTTP status ${httpStatus}.`, {
    httpStatus,
  });
}

export function timedOut(timeoutMs: number): SequencerError {
  return new SequencerError('sequencer_timeout', `The sequencer did not open the stream within ${timeoutMs} ms.`);
}

export function unreachable(message: string, cause?: unknown): SequencerError {
  return new SequencerError('sequencer_unreachable', message, { cause });
}

/** What ws tells by its event `error`. Its codes, those of the HTTP parser, and no code at all mean: not this protocol. */
export function asStreamError(cause: Error & { readonly code?: unknown }): SequencerError {
  const { code } = cause;
  if (typeof code === 'string' && !/^(?:WS_ERR_|HPE_)/.test(code)) {
    return unreachable('The sequencer cannot be reached.', cause);
  }
  return new SequencerError('sequencer_bad_response', 'The stream is not what it should be.', { cause });
}
