import { setTimeout as wait } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { SequencerState } from '../state/sequencer-state.js';

/** Pages that look on at a time. */
const maxReaders = 50;
/** What happens within that time is told at once, in milliseconds. */
const gatherMs = 80;
const beatMs = 20_000;
const headers = { 'content-type': 'text/event-stream' };

/** Server-Sent Events that say only that something has changed: what it is, the page asks. */
export function inspectorEvents({ journal, closing }: SequencerState): RequestHandler {
  let readers = 0;
  return (req, res) => {
    if (req.method === 'HEAD') return void res.writeHead(200, headers).end();
    if (readers >= maxReaders) return void res.status(503).end();
    readers += 1;
    const leaving = new AbortController();
    const beating = setInterval(() => res.write(': still here\n\n'), beatMs).unref();
    res.on('close', () => {
      readers -= 1;
      clearInterval(beating);
      leaving.abort();
    });
    res.writeHead(200, headers);
    res.write('retry: 1000\ndata: look\n\n');
    const signal = AbortSignal.any([closing, leaving.signal]);
    const tell = async (): Promise<void> => {
      while (!signal.aborted) {
        await journal.next(signal);
        await wait(gatherMs, undefined, { ref: false, signal }).catch(() => undefined);
        if (!signal.aborted) res.write('data: look\n\n');
      }
      res.end();
    };
    void tell();
  };
}
