import { SequencerError, type SequencerErrorCode } from '../../errors.js';

/** The status with which a call over gRPC ended; the library makes one up if none came. */
export interface GrpcStatus {
  readonly code?: unknown;
  readonly details?: unknown;
}

/** Codes of https://grpc.io/docs/guides/status-codes/, by number. */
const codeNames = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

/**
 * The error code of each status, as over the proxy. A status that is not listed is treated as an HTTP error.
 *
 * | status | code |
 * |---|---|
 * | DEADLINE_EXCEEDED | `sequencer_timeout` |
 * | UNAVAILABLE, CANCELLED: no connection, or one that broke | `sequencer_unreachable` |
 * | a refusal of the request by the service, as an ERROR envelope | `sequencer_error` |
 * | an HTTP status other than 200, whatever gRPC makes of it | `sequencer_bad_status` |
 * | RESOURCE_EXHAUSTED (as HTTP status 429), INTERNAL, UNKNOWN, DATA_LOSS, any other (as 500) | `sequencer_bad_status` |
 * | an answer over our limit, badly compressed, cut short, without a status, or not gRPC | `sequencer_bad_response` |
 */
const meanings: Readonly<Record<string, SequencerErrorCode>> = {
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

/** The library's own texts for an answer that it cannot read. A status of the service has another text. */
const unreadable =
  /^Received (?:message (?:larger|that decompresses)|RST_STREAM with code|HTTP status code 200$)|^Failed to decompress/;

const maxDetailsLength = 1_000;

/** The error of a call that did not end with OK (interface section 7). */
export function errorOfGrpcStatus(status: GrpcStatus, timeoutMs: number): SequencerError {
  const details = typeof status.details === 'string' ? status.details.slice(0, maxDetailsLength) : '';
  const name = codeNames[status.code as number] ?? String(status.code);
  const cause = new Error(`${name}: ${details}`);
  // The code is not a number if the library threw in the middle of an answer, or the service sent an invalid one.
  if (!Number.isInteger(status.code) || unreadable.test(details)) {
    return new SequencerError('sequencer_bad_response', 'The answer is not gRPC.', { cause });
  }
  const [, httpStatus] = /^Received HTTP status code (\d{3})$/.exec(details) ?? [];
  if (httpStatus) {
    const message = `The sequencer answered with HTTP status ${httpStatus}.`;
    return new SequencerError('sequencer_bad_status', message, { httpStatus: Number(httpStatus) });
  }
  return errorOfCode(name, details, timeoutMs, cause);
}

function errorOfCode(name: string, details: string, timeoutMs: number, cause: Error): SequencerError {
  const code = meanings[name] ?? 'sequencer_bad_status';
  const answered = `The sequencer answered with gRPC status ${name}.`;
  if (code === 'sequencer_error') return new SequencerError(code, answered, { serviceMessage: details });
  if (code === 'sequencer_unreachable') return new SequencerError(code, 'The sequencer cannot be reached.', { cause });
  if (code === 'sequencer_timeout') {
    return new SequencerError(code, `The sequencer did not answer within ${timeoutMs} ms.`, { cause });
  }
  return new SequencerError(code, answered, { httpStatus: name === 'RESOURCE_EXHAUSTED' ? 429 : 500 });
}
