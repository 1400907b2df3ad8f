import { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { securityHeaders } from '../response/respond.js';
import { chunkOf, retryFrame } from './sse-frame.js';

/** Limit of unread data per client, in bytes. */
const maxWaitingBytes = 64 * 1024;
/** How long the end of a stream may take to be sent, in milliseconds. */
const endTimeoutMs = 10_000;

const headers = {
  ...securityHeaders(),
  'Content-Type': 'text/event-stream; charset=utf-8',
  // no-transform prevents compression, which would delay events.
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

export function writeEventHeaders(res: Response): void {
  res.removeHeader('X-Powered-By');
  res.writeHead(200, headers);
}

/** One client of an event stream: an open response. Frames are created once and shared by all clients. */
export class SseConnection {
  readonly #res: Response;
  readonly lastEventId: string | undefined;
  /** Whether it has received the status. Events follow it. */
  hasStatus = false;
  /** Whether a chunk shared with other clients can be written directly to the socket. */
  #isPlain = false;

  constructor(res: Response, lastEventId: string | undefined) {
    this.#res = res;
    this.lastEventId = lastEventId;
  }

  /** @param retryMs how soon the browser reconnects after the end */
  open(retryMs: number): void {
    writeEventHeaders(this.#res);
    this.send(retryFrame(retryMs));
    this.#isPlain = isPlain(this.#res);
  }

  /** Writes a frame. A stalled client is disconnected; it reconnects and receives the events it missed. */
  send(frame: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (this.#isPlain) res.socket?.write(chunkOf(frame));
    else writeThrough(res, frame);
    // Includes the buffer of the socket.
    if (res.writableLength > maxWaitingBytes) res.destroy();
  }

  /** Ends the stream, with an optional last frame. The connection stays open for other requests. */
  end(frame?: Buffer): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    if (frame) {
      // Sent together with the end.
      res.socket?.cork();
      this.send(frame);
    }
    // For a client that does not read the end. The server may have no socket timeout.
    const timer = setTimeout(() => res.destroy(), endTimeoutMs).unref();
    res.once('close', () => clearTimeout(timer));
    try {
      res.end();
    } catch {
      res.destroy();
    }
  }
}

/** Whether no middleware of the app wraps the response. Then clients share a chunk, which halves the cost of an event. */
function isPlain(res: Response): boolean {
  return res.write === ServerResponse.prototype.write && res.chunkedEncoding;
}

function writeThrough(res: Response, frame: Buffer): void {
  try {
    res.write(frame);
    // A middleware that compresses despite no-transform buffers the frame until it is flushed.
    (res as { flush?: () => void }).flush?.();
  } catch {
    // A failing middleware ends only this stream.
    res.destroy();
  }
}
