import { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { securityHeaders } from '../response/respond.js';
import { chunkOf, retryFrame } from './sse-frame.js';

/** Limit of what waits for a client that does not read, in bytes. */
const maxWaitingBytes = 64 * 1024;
/** How long the end of a stream may take to get out, in milliseconds. */
const endTimeoutMs = 10_000;

const headers = {
  ...securityHeaders(),
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform prevents compression, which would hold events back.
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Writes the head of an event stream. */
export function writeEventHeaders(res: Response): void {
  res.removeHeader('X-Powered-By');
  res.writeHead(200, headers);
}

/** One client of an event stream: a response that stays open and takes frames, which are made once for all clients. */
export class SseConnection {
  readonly #res: Response;
  /** The last event the browser had when it connected. */
  readonly lastEventId: string | undefined;
  /** Whether it has had the status, and so takes events as they come. */
  isGreeted = false;
  /** Whether a chunk that is shared with other clients may go to the socket as it is. */
  #isPlain = false;

  constructor(res: Response, lastEventId: string | undefined) {
    this.#res = res;
    this.lastEventId = lastEventId;
  }

  /** @param retryMs when the browser reconnects after the end */
  open(retryMs: number): void {
    writeEventHeaders(this.#res);
    this.send(retryFrame(retryMs));
    joinHead(this.#res);
    this.#isPlain = isPlain(this.#res);
  }

  /** Writes a frame at once. A client that has stalled is disconnected; it reconnects and gets what it missed. */
  send(frame: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (this.#isPlain) res.socket?.write(chunkOf(frame));
    else writeThrough(res, frame);
    // Includes what waits in the socket.
    if (res.writableLength > maxWaitingBytes) res.destroy();
  }

  /** Ends the stream, with a last frame if there is one. The connection stays for other requests. */
  end(frame?: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (frame) {
      // It waits for the end and goes out with it.
      res.socket?.cork();
      this.send(frame);
    }
    // A client that does not take the end either. A server may have set no timeout for its sockets.
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
 * Whether no middleware of the app is between the response and its socket. Then clients share a chunk; making one for each
 * would be half of the cost of an event.
 */
function isPlain(res: Response): boolean {
  return res.write === ServerResponse.prototype.write && res.chunkedEncoding;
}

function writeThrough(res: Response, frame: Buffer): void {
  try {
    res.write(frame);
    // A middleware that compresses in spite of no-transform keeps the frame until it is flushed.
    (res as { flush?: () => void }).flush?.();
  } catch {
    // A middleware that fails ends this stream alone.
    res.destroy();
  }
}

const endOfHead = /\r\n\r\n$/;

/**
 * Node keeps the head of an open response as a chain of some seventy strings. Searching it makes it one string, which takes
 * half of the memory; that matters where thousands stay open. The compiler must not optimize the search away.
 */
function joinHead(res: Response): void {
  const { _header: head } = res as { _header?: unknown };
  if (typeof head === 'string') endOfHead.test(head);
}
