import { type IntentError, SequencerError } from '../errors.js';
import { decode, encode, v1 } from './codec.js';

/** Service and method of an operation, as the envelope names them (interface section 4.1). */
export interface Operation {
  /** The service of the interface, such as `MicroPayment`. */
  readonly service: string;
  /** Its method in camelCase, such as `getStatus`. */
  readonly method: string;
}

/** The operations that this package calls or serves (interface section 4.1, protocol section 5). */
export const operations = {
  createIntent: { service: 'Intents', method: 'createIntent' },
  getStatus: { service: 'MicroPayment', method: 'getStatus' },
  registerWebhook: { service: 'MicroPayment', method: 'registerWebhook' },
  sendMessage: { service: 'Messaging', method: 'sendMessage' },
  openMessageStream: { service: 'Messaging', method: 'openMessageStream' },
  pollMessages: { service: 'Messaging', method: 'pollMessages' },
  ackMessages: { service: 'Messaging', method: 'ackMessages' },
  getLoginForThirdPartyApp: { service: 'Identity', method: 'getLoginForThirdPartyApp' },
  loginToThirdPartyApp: { service: 'Identity', method: 'loginToThirdPartyApp' },
} as const satisfies Record<string, Operation>;

export function nameOf({ service, method }: Operation): string {
  return `${service}.${method}`;
}

/** The error of an answer that may come from another server. */
export function otherServerError(problem: string, cause?: unknown): SequencerError {
  const fix = 'Check that the URL points to the sequencer.';
  return new SequencerError('sequencer_bad_response', `${problem} ${fix}`, { cause });
}

// The codec omits default values.
const emptyVersion = Uint8Array.of(0x0a, 0x00);

/** The `Request` envelope of a serialized inner message (interface section 2.1). An empty `version` is sent explicitly. */
export function encodeRequest(operation: Operation, body: Uint8Array, version = ''): Uint8Array {
  return Buffer.concat([headOf(operation, version), encode(v1.Request, { body })]);
}

/** The fields before the body, by operation. They are constant, and a message is the concatenation of its fields. */
const heads = new WeakMap<Operation, { readonly version: string; readonly bytes: Uint8Array }>();

function headOf(operation: Operation, version: string): Uint8Array {
  const known = heads.get(operation);
  if (known?.version === version) return known.bytes;
  const { service, method } = operation;
  const head = encode(v1.Request, { version, service, method });
  const bytes = version === '' ? Buffer.concat([emptyVersion, head]) : head;
  heads.set(operation, { version, bytes });
  return bytes;
}

/** The `Response` envelope of a success. Proto3 omits default values, so an empty body encodes to zero bytes. */
export function encodeOkResponse(body: Uint8Array): Uint8Array {
  return encode(v1.Response, { body });
}

/** The `Response` envelope of a failure, with its reason (interface section 7.2). */
export function encodeErrorResponse(message: string): Uint8Array {
  return encode(v1.Response, { result: v1.Response.Result.ERROR, message });
}

/**
 * The answer of a call whose response had no bytes. It is the envelope of a success, and any server could have sent it:
 * the resilience does not take this object for a sign of life.
 */
export const emptyEnvelope = new Uint8Array(0);

/** Whether a response without bytes is the envelope of a success: status 200 with the content type of an envelope, or none. */
export function isEmptyEnvelope(httpStatus: number, contentType: string | null | undefined): boolean {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  return httpStatus === 200 && ['', 'application/octet-stream'].includes(mediaType.trim().toLowerCase());
}

/**
 * Extracts the inner message of a `Response` envelope.
 *
 * Every proto3 encoding of a success is accepted: zero bytes, default values written out, and unknown fields alone. Bytes
 * of another format can decode to one by chance, so an OK proves nothing about an intent. For zero bytes, the transport
 * checks whether there was an envelope (`isEmptyEnvelope`).
 * @throws {SequencerError} `sequencer_error` for an ERROR envelope, `sequencer_bad_response` for an invalid one
 */
export function openResponse(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const { result, body, message } = decodeResponse(bytes);
  if (result === v1.Response.Result.OK) {
    if (message === '') return body;
    throw otherServerError('The response is not a valid OK: it has an error text.');
  }
  if (result === v1.Response.Result.ERROR) {
    throw new SequencerError(
      'sequencer_error',
      'The sequencer refused the request. See `serviceMessage` for the reason.',
      {
        serviceMessage: message,
      },
    );
  }
  throw otherServerError(`The result ${result} of the response is unknown.`);
}

function decodeResponse(bytes: Uint8Array): v1.Response {
  try {
    return decode(v1.Response, bytes);
  } catch (error) {
    throw otherServerError('The response is not an envelope.', (error as IntentError).cause);
  }
}
