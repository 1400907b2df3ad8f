import type { Request, Response } from 'express';
import { parseIntentId } from '../keys/base58.js';
import type { Observer } from '../telemetry/router-event.js';
import { browserOf } from './browser-cookie.js';
import type { Visitor } from './connection-seats.js';
import { countedAddress } from './counted-address.js';
import { type IntentFeed, sentAwayFrame, terminalKind } from './intent-feed.js';
import { learnSecret } from './learn-secret.js';
import { answerProblem, type Problem, problemOf } from './problem.js';
import { sendEmpty } from './respond.js';
import type { Handler, RouterContext } from './router-context.js';
import { SseConnection, writeEventHeaders } from './sse-connection.js';

const retryAfterSeconds = 10;

/** `GET /intent/:id/events`: what happens to an intent, as Server-Sent Events (WHATWG HTML, section 9.2). */
export function eventsHandler(context: RouterContext): Handler {
  return async (req, res, id) => {
    parseIntentId(id);
    if (req.method === 'HEAD') return answerHead(res);
    // Who has had the last event comes back only because its EventSource was not closed; 204 closes it.
    if (req.headers['last-event-id'] === terminalKind) return sendEmpty(res, 204);
    if (!res.socket) await turnOf(res);
    // The browser may have gone while something in front of the router was busy; nothing would tell us so.
    if (res.destroyed) return;
    await listen(context, req, res, id);
  };
}

/**
 * Waits until the answers before this one on the same connection are out. Until then nothing tells that its client has
 * gone, so it must hold nothing: where its turn never comes, this promise goes with the response.
 */
function turnOf(res: Response): Promise<void> {
  return new Promise((resolve) => {
    res.once('socket', () => resolve());
  });
}

function answerHead(res: Response): void {
  writeEventHeaders(res);
  res.end();
}

async function listen(context: RouterContext, req: Request, res: Response, id: string): Promise<void> {
  const { browserCookie, events, seats, observer } = context;
  const browser = browserOf(browserCookie, req);
  const visitor: Visitor = {
    browser: browser && Buffer.from(browser).toString('latin1'),
    address: countedAddress(req.ip),
  };
  if (events.isClosed) return sendOn(res, observer, id);
  try {
    seats.take(visitor);
  } catch (error) {
    const { code } = refuse(res, error);
    observer?.tell({ type: 'stream_refused', intent: id, code });
    return;
  }
  // Nobody is to be asked after us; with it goes what Express has kept of the way here.
  req.next = undefined;
  const connection = new SseConnection(res, req.get('last-event-id'));
  let feed: IntentFeed | undefined;
  res.once('close', () => {
    seats.leave(visitor);
    feed?.leave(connection);
  });
  await learnSecret(context, req, res, id);
  if (res.destroyed) return;
  if (events.isClosed) return sendOn(res, observer, id);
  feed = events.join(id, connection);
  if (observer) tellOfStream(observer, res, id);
}

function tellOfStream({ tell }: Observer, res: Response, intent: string): void {
  const openedAtMs = performance.now();
  tell({ type: 'stream_opened', intent });
  res.once('close', () => tell({ type: 'stream_closed', intent, ms: Math.round(performance.now() - openedAtMs) }));
}

/** A browser comes back by itself after a stream that has ended, and after a refusal never. */
function sendOn(res: Response, observer: Observer | undefined, intent: string): void {
  writeEventHeaders(res);
  res.end(sentAwayFrame());
  observer?.tell({ type: 'stream_refused', intent, code: 'closing' });
}

/** Not a line in the log for each: they come in crowds. */
function refuse(res: Response, error: unknown): Problem {
  const problem = problemOf(error);
  answerProblem(res, problem, { 'Retry-After': String(retryAfterSeconds) });
  return problem;
}
