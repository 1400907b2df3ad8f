import type { Socket } from 'node:net';
import type { Request, Response } from 'express';

// Pipelined requests behind an event stream on the same connection. HTTP/1.1 answers them only after the stream has ended
// (RFC 9112, section 9.3.2). They hold memory until then.

/** How many requests may wait behind the stream of a connection. Browsers and proxies send none. */
const maxBehind = 64;

/** A connection with streams. Kept until the last of them ends: a new stream does not reset the count. */
interface Pipeline {
  /** Streams that are open or waiting for their turn. */
  streams: number;
  /** Requests received behind an unsent response. */
  behind: number;
}

const pipelines = new WeakMap<Socket, Pipeline>();

/** Counts a stream of this connection. @returns a function to call once when the stream ends */
export function joinPipeline(socket: Socket): () => void {
  const pipeline = pipelines.get(socket) ?? { streams: 0, behind: 0 };
  pipelines.set(socket, pipeline);
  pipeline.streams += 1;
  return () => {
    pipeline.streams -= 1;
    if (pipeline.streams === 0) pipelines.delete(socket);
  };
}

/** Closes a connection with too many requests behind an open stream. @returns whether it was closed */
export function closeOverfullPipeline(req: Request, res: Response): boolean {
  const pipeline = res.socket ? undefined : pipelines.get(req.socket);
  if (pipeline === undefined) return false;
  pipeline.behind += 1;
  const isOverfull = pipeline.behind > maxBehind;
  if (isOverfull) req.socket.destroy();
  return isOverfull;
}

/** The callbacks of waiting streams, by connection. One `close` listener serves them all. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Waits until the earlier responses on the same connection are sent. Node emits no event for a response whose connection closes
 * before its turn, so this listens to the connection.
 * @returns false if the connection is closed
 */
export async function waitForTurn(req: Request, res: Response): Promise<boolean> {
  const { socket } = req;
  if (!res.socket && socket && !socket.destroyed) {
    await new Promise<void>((resolve) => {
      const proceed = (): void => {
        others.delete(proceed);
        res.off('socket', proceed);
        resolve();
      };
      const others = waiting.get(socket) ?? listenForClose(socket);
      others.add(proceed);
      res.once('socket', proceed);
    });
  }
  return Boolean(res.socket);
}

function listenForClose(socket: Socket): Set<() => void> {
  const callbacks = new Set<() => void>();
  waiting.set(socket, callbacks);
  socket.once('close', () => {
    for (const proceed of callbacks) proceed();
  });
  return callbacks;
}
