import { readError, SequencerError } from '../../errors.js';
import { type Codec, decode, encode } from '../../wire/codec.js';
import { encodeRequest, isEmptyEnvelope, type Operation, openResponse } from '../../wire/envelope.js';

const timeoutMs = 10_000;

export interface ProxyCall<Request, Response> {
  readonly operation: Operation;
  readonly request: Codec<unknown, Request>;
  readonly response: Codec<Response, never>;
}

/** Calls the proxy at the base_url `url` (interface section 4.1) once, with a timeout of 10 seconds. @throws {SequencerError} */
export async function callSequencer<Request, Response>(
  url: string,
  { operation, request, response }: ProxyCall<Request, Response>,
  message: Request,
): Promise<Response> {
  const envelope = encodeRequest(operation, encode(request, message));
  const answer = await post(`${url}/v1/api`, new Uint8Array(envelope));
  return decode(response, openResponse(answer));
}

async function post(address: string, body: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  let answer: globalThis.Response;
  let bytes: Uint8Array | undefined;
  try {
    answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.ok) bytes = new Uint8Array(await answer.arrayBuffer());
  } catch (cause) {
    if (readError(cause).name === 'TimeoutError') {
      throw new SequencerError(
        'sequencer_timeout',
        `Timeout: no response from the simulator at ${address}. Check that it is running.`,
        {
          cause,
        },
      );
    }
    throw new SequencerError(
      'sequencer_unreachable',
      `No connection to the simulator at ${address}. Check that it is running.`,
      { cause },
    );
  }
  if (!bytes) {
    await answer.body?.cancel();
    throw new SequencerError(
      'sequencer_bad_status',
      `The server at ${address} answered with status ${answer.status}. Check that it is a simulator.`,
      {
        httpStatus: answer.status,
      },
    );
  }
  if (bytes.length === 0 && !isEmptyEnvelope(answer.status, answer.headers.get('content-type'))) {
    throw new SequencerError(
      'sequencer_bad_response',
      `The response of ${address} is empty. Check that it is a simulator.`,
    );
  }
  return bytes;
}
