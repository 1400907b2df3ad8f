import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { parseIntentId } from '../../keys/base58.js';
import type { Observer } from '../../telemetry/router-event.js';
import type { ConnectionOwner } from '../limits/connection-limiter.js';
import { rateLimitKey } from '../limits/rate-limit-key.js';
import { browserHashOf } from '../request/browser-cookie.js';
import { answerProblem, type ProblemDetails, toProblemDetails } from '../response/problem.js';
import { sendEmpty } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { type IntentFeed, sentAwayFrame, terminalKind } from './intent-feed.js';
import { learnSecret } from './restore-client-secret.js';
import { SseConnection, writeEventHeaders } from './sse-connection.js';

const retryAfterSeconds = 10;

/** `GET /intent/:id/events`: what happens to an intent, as Server-Sent Events (WHATWG HTML, section 9.2). */
export function eventsHandler(context: RouterContext): Handler {
  return async (req, res, id) => {
    parseIntentId(id);
    if (req.method === 'HEAD') return answerHead(res);
    // Who has had the last event comes back only because its EventSource was not closed; 204 closes it.
    if (req.headers['last-event-id'] === terminalKind) return sendEmpty(res, 204);
    // A middleware in front of the router may have answered already, such as one for timeouts.
    if (isAnswered(res)) return;
    await listen(context, req, res, id);
  };
}

function answerHead(res: Response): void {
  writeEventHeaders(res);
  res.end();
}

async function listen(context: RouterContext, req: Request, res: Response, id: string): Promise<void> {
  const { browserCookie, events, connectionLimiter, observer } = context;
  const browser = browserHashOf(browserCookie, req);
  const visitor: ConnectionOwner = {
    browser: browser && Buffer.from(browser).toString('latin1'),
    ...rateLimitKey(req.ip),
  };
  if (events.isClosed) return sendOn(res, observer, id);
  try {
    connectionLimiter.acquire(visitor);
  } catch (error) {
    const { code } = refuse(res, error);
    observer?.emit({ type: 'stream_refused', intent: id, code });
    return;
  }
  const leavePipeline = joinPipeline(req.socket);
  const leave = (): void => {
    connectionLimiter.release(visitor);
    leavePipeline();
  };
  // No handler follows; the reference would keep what Express has held on the way here.
  req.next = undefined;
  if (!(await hasTurn(req, res))) return leave();
  const connection = new SseConnection(res, req.get('last-event-id'));
  let feed: IntentFeed | undefined;
  res.once('close', () => {
    leave();
    feed?.leave(connection, visitor);
  });
  await learnSecret(context, req, res, id);
  if (isAnswered(res)) return;
  if (events.isClosed) return sendOn(res, observer, id);
  feed = events.join(id, connection);
  if (observer) tellOfStream(observer, res, id);
}

/** Whether nothing more can be sent: the response has a head already, or its client has left. */
function isAnswered(res: Response): boolean {
  return res.headersSent || res.writableEnded || res.destroyed;
}

/** Requests that may wait behind the stream of a connection. Browsers and proxies send none there. */
const maxBehind = 64;
/** A connection that has streams. It ends with the last of them, so that a stream which follows another resets no count. */
interface Pipeline {
  /** Streams that are open or wait for their turn. */
  streams: number;
  /** Requests that have come behind a response that was not sent. */
  behind: number;
}

const pipelines = new WeakMap<Socket, Pipeline>();

/** @returns what is to be called, once, when the stream ends */
function joinPipeline(socket: Socket): () => void {
  const pipeline = pipelines.get(socket) ?? { streams: 0, behind: 0 };
  pipelines.set(socket, pipeline);
  pipeline.streams += 1;
  return () => {
    pipeline.streams -= 1;
    if (pipeline.streams === 0) pipelines.delete(socket);
  };
}

/**
 * Ends a connection that sends request after request behind an open stream: they can be answered only after it, and each
 * holds memory until then. Node reads on until their answers fill a buffer, and by then has read thousands.
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

/** What is to be called when a connection ends, of the streams that wait on it. One listener serves all of them. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Waits until the responses before this one on the same connection are sent (RFC 9112, section 9.3.2).
 *
 * Node emits no event of a response whose connection ends before its turn, so this listens to the connection.
 * @returns false when the connection has ended, or the response was answered meanwhile
 */
async function hasTurn(req: Request, res: Response): Promise<boolean> {
  const { socket } = req;
  if (!res.socket && socket && !socket.destroyed) {
    await new Promise<void>((resolve) => {
      const proceed = (): void => {
        others.delete(proceed);
        res.off('socket', proceed);
        resolve();
      };
      const others = waiting.get(socket) ?? waitingOn(socket);
      others.add(proceed);
      res.once('socket', proceed);
    });
  }
  return Boolean(res.socket) && !isAnswered(res);
}

function waitingOn(socket: Socket): Set<() => void> {
  const those = new Set<() => void>();
  waiting.set(socket, those);
  socket.once('close', () => {
    for (const proceed of those) proceed();
  });
  return those;
}

function tellOfStream({ emit }: Observer, res: Response, intent: string): void {
  const openedAtMs = performance.now();
  emit({ type: 'stream_opened', intent });
  res.once('close', () => emit({ type: 'stream_closed', intent, ms: Math.round(performance.now() - openedAtMs) }));
}

/** A browser comes back by itself after a stream that has ended, and after a refusal never. */
function sendOn(res: Response, observer: Observer | undefined, intent: string): void {
  writeEventHeaders(res);
  res.end(sentAwayFrame());
  observer?.emit({ type: 'stream_refused', intent, code: 'closing' });
}

/** Not a line in the log for each: they come in crowds. */
function refuse(res: Response, error: unknown): ProblemDetails {
  const problem = toProblemDetails(error);
  answerProblem(res, problem, { 'Retry-After': String(retryAfterSeconds) });
  return problem;
}
