import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { sendEnvelope } from '../servers/send-envelope.js';
import type { FaultKind } from './fault-kinds.js';
import { type FaultyOperationCall, spoiltEnvelope } from './spoil-envelope.js';
import { waitFor } from './wait-for.js';

/** A call of the proxy that meets a fault. */
export interface FaultyCall extends FaultyOperationCall {
  readonly req: Request;
  readonly res: Response;
  /** Aborted when the sequencer closes. */
  readonly closing: AbortSignal;
}

/** Answers a call of the proxy with its fault. */
export async function misbehave(call: FaultyCall): Promise<void> {
  const { fault, perform, res, closing } = call;
  if (fault.kind === 'delay' && fault.when === 'before') {
    if (await waitFor(fault.ms, closing)) sendEnvelope(res, await perform());
    return;
  }
  const envelope = await spoiltEnvelope(call);
  const misbehaviour = misbehaviours[fault.kind];
  if (misbehaviour) await misbehaviour(call, envelope);
  else sendEnvelope(res, envelope);
}

type Misbehaviour = (call: FaultyCall, envelope: Uint8Array) => void | Promise<void>;

/** Ways to send an envelope, or not. What is not here has spoilt the envelope itself. */
const misbehaviours: Readonly<Partial<Record<FaultKind, Misbehaviour>>> = {
  refuse: ({ req }) => {
    req.socket.destroy();
  },
  cut: ({ res }, envelope) => {
    res.writeHead(200, { 'content-type': octetStream, 'content-length': envelope.length });
    res.write(envelope.subarray(0, envelope.length / 2), () => res.destroy());
  },
  delay: async ({ fault, res, closing }, envelope) => {
    if (await waitFor(fault.ms, closing)) sendEnvelope(res, envelope);
  },
  drip: async ({ fault, res, closing }, envelope) => {
    res.writeHead(200, { 'content-type': octetStream, 'content-length': envelope.length });
    res.flushHeaders();
    for (const byte of envelope) {
      if (!(await waitFor(fault.ms, closing)) || res.destroyed) return;
      res.write(Uint8Array.of(byte));
    }
    res.end();
  },
  status: ({ fault, res }) => {
    res.status(fault.httpStatus).type('text/plain').send('The sequencer was told to fail.');
  },
  redirect: ({ res }) => res.redirect(302, '/wallet'),
  'wrong-content-type': ({ res }) => {
    res.type('html').send('<!doctype html><title>Down for maintenance</title><p>Please come back later.');
  },
  flood: async ({ res }) => {
    res.type(octetStream);
    // Whoever has had enough hangs up, which is the right thing to do.
    await pipeline(Readable.from(megabytes(64)), res).catch(() => undefined);
  },
};

const octetStream = 'application/octet-stream';

function* megabytes(count: number): Generator<Buffer> {
  const megabyte = Buffer.alloc(1024 * 1024);
  for (let n = 0; n < count; n += 1) yield megabyte;
}
