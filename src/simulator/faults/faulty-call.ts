import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { SequencerError, type SequencerErrorCode } from '../../errors.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { encodeErrorResponse, encodeOkResponse } from '../../wire/envelope.js';
import type { FaultKind, ResolvedFault } from './fault-kinds.js';

// A faulty call has two steps. First the operation runs or is skipped, and its envelope is corrupted; this step is the same for
// every transport. Then the response fails in transit: over HTTP the connection fails, and a call in the process throws an
// error.

/** A call that a fault applies to, independent of the transport. */
export interface FaultyCall {
  readonly fault: ResolvedFault;
  readonly perform: () => Promise<Uint8Array>;
  readonly forget: () => void;
  /** Ends delays. Aborted when the simulator closes and, except over HTTP, when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Returns the envelope of a faulty call. With `when: 'before'`, all but `forget` skip the operation and corrupt an empty OK envelope. */
async function corruptedEnvelope({ fault, perform, forget }: FaultyCall): Promise<Uint8Array> {
  const { kind, when } = fault;
  if (kind === 'forget') {
    if (when === 'before') forget();
    const envelope = await perform();
    forget();
    return envelope;
  }
  const response = when === 'after' ? await perform() : encodeOkResponse(new Uint8Array());
  // An empty OK envelope has zero bytes, which cannot be cut or garbled.
  const envelope = response.length > 0 ? response : explicitOk;
  if (kind === 'error') return errorEnvelope();
  if (kind === 'garble') return garbageLike(envelope);
  if (kind === 'duplicate') return corruptMessages(envelope, (messages) => messages.flatMap((one) => [one, one]));
  if (kind === 'reorder') return corruptMessages(envelope, (messages) => messages.toReversed());
  return envelope;
}

const explicitOk = Uint8Array.of(0x08, 0x00);

export const errorEnvelope = (): Uint8Array => encodeErrorResponse('A fault was injected: error.');

/** Bytes of the same length that cannot be decoded, because they contain no end of a varint. */
export const garbageLike = (envelope: Uint8Array): Uint8Array => new Uint8Array(envelope.length).fill(0xff);

type Messages = v1.PollMessagesResponse['messages'];

/** Changes the messages in the envelope of `pollMessages`. An ERROR envelope is returned unchanged. */
function corruptMessages(envelope: Uint8Array, change: (messages: Messages) => Messages): Uint8Array {
  const { result, body } = decode(v1.Response, envelope);
  if (result !== v1.Response.Result.OK) return envelope;
  const { messages } = decode(v1.PollMessagesResponse, body);
  return encodeOkResponse(encode(v1.PollMessagesResponse, { messages: change(messages) }));
}

/** Waits without keeping the process alive. Resolves with false when `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { ref: false, signal }).catch(() => false);
}

/** Error codes of the kinds that deliver no envelope, outside HTTP. `httpFailures` has the same kinds, and `drip`. */
const callFailureCodes: Readonly<Partial<Record<FaultKind, SequencerErrorCode>>> = {
  disconnect: 'sequencer_unreachable',
  cut: 'sequencer_unreachable',
  status: 'sequencer_bad_status',
  redirect: 'sequencer_bad_status',
  'wrong-content-type': 'sequencer_bad_response',
  flood: 'sequencer_bad_response',
};

export async function performFaultyCall(call: FaultyCall): Promise<Uint8Array> {
  const { fault, perform, signal } = call;
  const takesEffectLate = fault.kind === 'delay' && fault.when === 'before';
  const envelope = takesEffectLate ? undefined : await corruptedEnvelope(call);
  if (fault.kind === 'delay') await pause(fault.ms, signal);
  if (fault.kind === 'drip') await pause(fault.ms * (envelope?.length ?? 0), signal);
  throwFault(fault);
  return envelope ?? perform();
}

export function throwFault({ kind, httpStatus }: ResolvedFault): void {
  const code = callFailureCodes[kind];
  if (!code) return;
  const details = kind === 'status' ? { httpStatus } : kind === 'redirect' ? { httpStatus: 302 } : {};
  throw new SequencerError(code, `A fault was injected: ${kind}.`, details);
}

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

interface HttpExchange {
  readonly req: Request;
  readonly res: Response;
  /** The response that carries an envelope. */
  readonly answerOf: (envelope: Uint8Array) => HttpAnswer;
}

/** Performs a faulty call over HTTP. Returns the envelope to send, or undefined if nothing is left to send. */
export async function performFaultyHttpCall(call: FaultyCall, exchange: HttpExchange): Promise<Uint8Array | undefined> {
  const { fault, perform, signal } = call;
  if (fault.kind === 'delay' && fault.when === 'before') {
    return (await pause(fault.ms, signal)) ? perform() : undefined;
  }
  const envelope = await corruptedEnvelope(call);
  if (fault.kind === 'delay') return (await pause(fault.ms, signal)) ? envelope : undefined;
  const fail = httpFailures[fault.kind];
  if (!fail) return envelope;
  await fail(exchange, envelope, call);
  return undefined;
}

type HttpFailure = (exchange: HttpExchange, envelope: Uint8Array, call: FaultyCall) => void | Promise<void>;

const octetStream = 'application/octet-stream';

/** Sends the responses of the kinds that do not send the whole envelope at once. */
const httpFailures: Readonly<Partial<Record<FaultKind, HttpFailure>>> = {
  disconnect: ({ req }) => {
    req.socket.destroy();
  },
  cut: ({ res, answerOf }, envelope) => {
    const { status, contentType, body } = answerOf(envelope);
    // A body without an envelope can be empty. A length of 0 cannot be cut.
    res.writeHead(status, { 'content-type': contentType, 'content-length': Math.max(body.length, 1) });
    res.write(body.subarray(0, body.length / 2), () => res.destroy());
  },
  drip: async ({ res, answerOf }, envelope, { fault, signal }) => {
    const { status, contentType, body } = answerOf(envelope);
    res.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
    res.flushHeaders();
    for (const byte of body) {
      if (!(await pause(fault.ms, signal)) || res.destroyed) return;
      res.write(Uint8Array.of(byte));
    }
    res.end();
  },
  status: ({ res }, _envelope, { fault }) => {
    res.status(fault.httpStatus).type('text/plain').send('A fault was injected: status.');
  },
  redirect: ({ res }) => res.redirect(302, '/wallet'),
  'wrong-content-type': ({ res }) => {
    res.type('html').send('<!doctype html><title>Down for maintenance</title><p>Please come back later.');
  },
  flood: async ({ res }) => {
    res.type(octetStream);
    // A client with a size limit closes the connection.
    await pipeline(Readable.from(megabytes(64)), res).catch(() => undefined);
  },
};

function* megabytes(count: number): Generator<Buffer> {
  const megabyte = Buffer.alloc(1024 * 1024);
  for (let n = 0; n < count; n += 1) yield megabyte;
}
