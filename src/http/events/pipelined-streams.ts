import type { Socket } from 'node:net';
import type { Request, Response } from 'express';

// Requests on a connection whose earlier request is an event stream: they are answered only when the stream has ended
// (RFC 9112, section 9.3.2), and hold memory until then.

/** Requests that may wait behind the stream of a connection. Browsers and proxies send none there. */
const maxBehind = 64;

/** A connection that has streams. It is dropped with the last of them, so that a stream that follows another resets no count. */
interface Pipeline {
  /** Streams that are open or wait for their turn. */
  streams: number;
  /** Requests that came behind a response that was not sent. */
  behind: number;
}

const pipelines = new WeakMap<Socket, Pipeline>();

/** Counts a stream of this connection. @returns ends that; to be called once */
export function joinPipeline(socket: Socket): () => void {
  const pipeline = pipelines.get(socket) ?? { streams: 0, behind: 0 };
  pipelines.set(socket, pipeline);
  pipeline.streams += 1;
  return () => {
    pipeline.streams -= 1;
    if (pipeline.streams === 0) pipelines.delete(socket);
  };
}

/**
 * Ends a connection that sends request after request behind an open stream. Node reads until their answers fill a buffer,
 * and by then has read thousands.
 * @returns whether the connection has ended
 */
export function endOverfullPipeline(req: Request, res: Response): boolean {
  const pipeline = res.socket ? undefined : pipelines.get(req.socket);
  if (pipeline === undefined) return false;
  pipeline.behind += 1;
  const isOverfull = pipeline.behind > maxBehind;
  if (isOverfull) req.socket.destroy();
  return isOverfull;
}

/** Called when a connection ends, for the streams that wait on it. One listener serves all of them. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Waits until the responses before this one on the same connection are sent. Node emits no event for a response whose
 * connection ends before its turn, so this listens to the connection.
 * @returns false when the connection has ended
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
