import { SequencerError, type SequencerErrorCode } from '../../errors.js';
import { answerTimeoutError, httpStatusError, unreachableError } from '../transport.js';

/** The final status of a gRPC call. The library supplies one if the service sent none. */
export interface GrpcStatus {
  readonly code?: unknown;
  readonly details?: unknown;
  /** Not empty if the status came from a server. */
  readonly metadata?: { getMap?(): object };
}

/** Codes of https://grpc.io/docs/guides/status-codes/, by number. */
const codeNames = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

/**
 * The error code of each gRPC status, equivalent to those over HTTP:
 *
 * | status | code |
 * |---|---|
 * | DEADLINE_EXCEEDED | `sequencer_timeout` |
 * | UNAVAILABLE, CANCELLED: no connection, or a broken one | `sequencer_unreachable` |
 * | a refusal of the request by the service | `sequencer_error` |
 * | an HTTP status other than 200, with any gRPC status | `sequencer_bad_status` |
 * | RESOURCE_EXHAUSTED (as HTTP 429); INTERNAL, UNKNOWN, DATA_LOSS and any other (as HTTP 500) | `sequencer_bad_status` |
 * | an answer that is too large, badly compressed, truncated, without a status, or not gRPC | `sequencer_bad_response` |
 */
const errorCodeOf: Readonly<Record<string, SequencerErrorCode>> = {
  DEADLINE_EXCEEDED: 'sequencer_timeout',
  UNAVAILABLE: 'sequencer_unreachable',
  CANCELLED: 'sequencer_unreachable',
  INVALID_ARGUMENT: 'sequencer_error',
  NOT_FOUND: 'sequencer_error',
  ALREADY_EXISTS: 'sequencer_error',
  PERMISSION_DENIED: 'sequencer_error',
  FAILED_PRECONDITION: 'sequencer_error',
  ABORTED: 'sequencer_error',
  OUT_OF_RANGE: 'sequencer_error',
  UNIMPLEMENTED: 'sequencer_error',
  UNAUTHENTICATED: 'sequencer_error',
};

/** The library's own texts for an answer that it cannot decode. A status of the service has other texts. */
const unreadable =
  /^Received (?:message (?:larger|that decompresses)|RST_STREAM with code|HTTP status code 200$)|^Failed to decompress/;

/** In `cause`, which logs print. */
const maxCauseLength = 400;

export function errorOfGrpcStatus(status: GrpcStatus, timeoutMs: number): SequencerError {
  const details = typeof status.details === 'string' ? status.details : '';
  const name = codeNames[status.code as number] ?? String(status.code);
  // Quoted, because the service controls the text.
  const cause = new Error(details ? `${name}: ${JSON.stringify(details.slice(0, maxCauseLength))}` : name);
  // Not a number if the library threw during an answer, or the service sent an invalid code.
  if (!Number.isInteger(status.code) || unreadable.test(details)) {
    return new SequencerError(
      'sequencer_bad_response',
      'The response is not valid gRPC. Check that the URL is the gRPC address of the sequencer.',
      { cause },
    );
  }
  const [, httpStatus] = /^Received HTTP status code (\d{3})$/.exec(details) ?? [];
  if (httpStatus) return httpStatusError(Number(httpStatus));
  return errorOfCode(name, details, timeoutMs, cause);
}

function errorOfCode(name: string, details: string, timeoutMs: number, cause: Error): SequencerError {
  const code = errorCodeOf[name] ?? 'sequencer_bad_status';
  if (code === 'sequencer_unreachable') return unreachableError(cause);
  if (code === 'sequencer_timeout') return answerTimeoutError(timeoutMs, cause);
  const answered = `The sequencer answered with gRPC status ${name}.`;
  if (code === 'sequencer_error') {
    return new SequencerError(code, `${answered} See \`serviceMessage\` for the reason.`, { serviceMessage: details });
  }
  const httpStatus = name === 'RESOURCE_EXHAUSTED' ? 429 : 500;
  return new SequencerError(code, `${answered} Retry later.`, { httpStatus, cause });
}
