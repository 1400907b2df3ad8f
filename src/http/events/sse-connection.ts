import { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { securityHeaders } from '../response/respond.js';
import { chunkOf, retryFrame } from './sse-frame.js';

/** What waits for a reader that does not read is bounded, in bytes. */
const maxWaitingBytes = 64 * 1024;
/** How long the end of a stream may take to get out, in milliseconds. */
const endTimeoutMs = 10_000;

const headers = {
  ...securityHeaders(),
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform keeps compression, which would hold events back, away from the stream here and on its way.
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Writes the head of a stream of events. */
export function writeEventHeaders(res: Response): void {
  res.removeHeader('X-Powered-By');
  res.writeHead(200, headers);
}

/** One browser that listens: a response that stays open, and takes frames which are made once for all who listen. */
export class SseConnection {
  readonly #res: Response;
  /** The last event the browser had when it came; of no use once it was greeted. */
  lastEventId: string | undefined;
  /** Whether the browser was told the status, and so takes events as they come. */
  isGreeted = false;
  /** Whether a chunk that was made once for all may go to the socket as it is. */
  #isPlain = false;

  constructor(res: Response, lastEventId: string | undefined) {
    this.#res = res;
    this.lastEventId = lastEventId;
  }

  /** @param retryMs when the browser is to come back after the end */
  open(retryMs: number): void {
    writeEventHeaders(this.#res);
    this.send(retryFrame(retryMs));
    joinHead(this.#res);
    this.#isPlain = isPlain(this.#res);
  }

  /** Writes a frame at once. A reader that has stalled is dropped: it comes back and is told what it missed. */
  send(frame: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (this.#isPlain) res.socket?.write(chunkOf(frame));
    else writeThrough(res, frame);
    // What waits in the socket is counted in.
    if (res.writableLength > maxWaitingBytes) res.destroy();
  }

  /** Ends the stream, with a last frame if there is one; the connection stays for other requests. */
  end(frame?: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (frame) {
      // It waits for the end and goes out with it.
      res.socket?.cork();
      this.send(frame);
    }
    // Who does not take the end either is let go. Not by the socket's own time, which a server that has none leaves as it is.
    const timer = setTimeout(() => res.destroy(), endTimeoutMs).unref();
    res.once('close', () => clearTimeout(timer));
    try {
      res.end();
    } catch {
      res.destroy();
    }
  }
}

/**
 * Whether nothing of the app's is between the response and its socket, so that it need not make the same chunk anew for
 * each who listens: that would be half of what an event costs.
 */
function isPlain(res: Response): boolean {
  return res.write === ServerResponse.prototype.write && res.chunkedEncoding;
}

function writeThrough(res: Response, frame: Buffer): void {
  try {
    res.write(frame);
    // A middleware that compresses all the same keeps the frame until it is told not to.
    (res as { flush?: () => void }).flush?.();
  } catch {
    // What the app has put in front of the socket fails for this reader alone.
    res.destroy();
  }
}

const endOfHead = /\r\n\r\n$/;

/**
 * Node keeps the head of an open response as a chain of some seventy pieces of text. Searching it makes it one text, which
 * takes half of the memory: worth it where thousands stay open. Only what the compiler cannot leave out does so.
 */
function joinHead(res: Response): void {
  const { _header: head } = res as { _header?: unknown };
  if (typeof head === 'string') endOfHead.test(head);
}
