import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { encodeErrorResponse, encodeOkResponse } from '../../wire/envelope.js';
import { sendEnvelope } from '../send-envelope.js';
import type { SettledFault } from './fault.js';
import type { FaultKind } from './fault-kinds.js';
import { spoilMessages } from './spoil-messages.js';

/** A call that meets a fault. */
export interface FaultyCall {
  readonly fault: SettledFault;
  readonly req: Request;
  readonly res: Response;
  /** Does what the operation does, and gives the envelope that it would be answered with. */
  readonly perform: () => Promise<Uint8Array>;
  /** Forgets the intent that the call is about. */
  readonly forget: () => void;
  /** Aborted when the sequencer closes. */
  readonly closing: AbortSignal;
}

/** Answers a call with its fault. */
export async function misbehave(call: FaultyCall): Promise<void> {
  await misbehaviours[call.fault.kind](call);
}

/** The operation's envelope after its effect, and one of nothing where it shall have none. */
const answerTo = async ({ fault, perform }: FaultyCall): Promise<Uint8Array> =>
  fault.when === 'after' ? perform() : encodeOkResponse(new Uint8Array());

/** Waits; gives false when the sequencer has closed meanwhile. */
const waitFor = (ms: number, closing: AbortSignal): Promise<boolean> =>
  wait(ms, true, { ref: false, signal: closing }).catch(() => false);

const misbehaviours: Readonly<Record<FaultKind, (call: FaultyCall) => Promise<void>>> = {
  refuse: async (call) => {
    await answerTo(call);
    call.req.socket.destroy();
  },
  cut: async (call) => {
    const answer = await answerTo(call);
    call.res.writeHead(200, { 'content-type': octetStream, 'content-length': answer.length });
    call.res.write(answer.subarray(0, answer.length / 2), () => call.res.destroy());
  },
  delay: async ({ fault: { when, ms }, res, perform, closing }) => {
    const answer = when === 'after' ? await perform() : undefined;
    if (await waitFor(ms, closing)) sendEnvelope(res, answer ?? (await perform()));
  },
  drip: async ({ fault: { ms }, res, perform, closing }) => {
    const answer = await perform();
    res.writeHead(200, { 'content-type': octetStream, 'content-length': answer.length });
    res.flushHeaders();
    for (const byte of answer) {
      if (!(await waitFor(ms, closing)) || res.destroyed) return;
      res.write(Uint8Array.of(byte));
    }
    res.end();
  },
  error: async (call) => {
    await answerTo(call);
    sendEnvelope(call.res, encodeErrorResponse('The sequencer was told to say no.'));
  },
  status: async (call) => {
    await answerTo(call);
    const { httpStatus } = call.fault;
    call.res.status(httpStatus).type('text/plain').send('The sequencer was told to fail.');
  },
  redirect: async (call) => {
    await answerTo(call);
    call.res.redirect(302, '/wallet');
  },
  'wrong-content-type': async (call) => {
    await answerTo(call);
    call.res.type('html').send('<!doctype html><title>Down for maintenance</title><p>Please come back later.');
  },
  garble: async (call) => {
    // No number ends within bytes like these, so that nothing can be read into them.
    sendEnvelope(call.res, (await answerTo(call)).slice().fill(0xff));
  },
  flood: async (call) => {
    await answerTo(call);
    call.res.type(octetStream);
    // Whoever has had enough hangs up, which is the right thing to do.
    await pipeline(Readable.from(megabytes(64)), call.res).catch(() => undefined);
  },
  forget: async (call) => {
    if (call.fault.when === 'before') call.forget();
    const answer = await call.perform();
    call.forget();
    sendEnvelope(call.res, answer);
  },
  duplicate: async ({ res, perform }) => {
    sendEnvelope(
      res,
      spoilMessages(await perform(), (messages) => messages.flatMap((one) => [one, one])),
    );
  },
  reorder: async ({ res, perform }) => {
    sendEnvelope(
      res,
      spoilMessages(await perform(), (messages) => messages.toReversed()),
    );
  },
};

const octetStream = 'application/octet-stream';

function* megabytes(count: number): Generator<Buffer> {
  const megabyte = Buffer.alloc(1024 * 1024);
  for (let n = 0; n < count; n += 1) yield megabyte;
}
