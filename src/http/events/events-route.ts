import type { Request, Response } from 'express';
import { parseIntentId } from '../../keys/base58.js';
import type { Observer } from '../../telemetry/router-event.js';
import type { ConnectionOwner } from '../limits/connection-limiter.js';
import { rateLimitKey } from '../limits/rate-limit-key.js';
import { browserHashOf } from '../request/browser-cookie.js';
import { sendProblemDetails, toProblemDetails } from '../response/problem.js';
import { sendEmpty } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { skipSessionSave } from '../session/app-session.js';
import { closingFrame } from './event-hub.js';
import { type IntentFeed, terminalKind } from './intent-feed.js';
import { joinPipeline, waitForTurn } from './pipelined-streams.js';
import { restoreClientSecret } from './private-intent-cache.js';
import { SseConnection, writeEventHeaders } from './sse-connection.js';
import { descriptionFrame } from './sse-frame.js';

const retryAfterSeconds = 10;

/** `GET /intent/:id/events`: the events of an intent, as Server-Sent Events (WHATWG HTML, section 9.2). */
export function eventsHandler(context: RouterContext): Handler {
  return async (req, res, id) => {
    parseIntentId(id);
    if (req.method === 'HEAD') {
      writeEventHeaders(res);
      res.end();
      return;
    }
    // A browser with the last event reconnects only because its EventSource is still open; 204 closes it.
    if (req.headers['last-event-id'] === terminalKind) return sendEmpty(res, 204);
    // A middleware before the router may have responded already, such as one for timeouts.
    if (isResponseSent(res)) return;
    await openStream(context, req, res, id);
  };
}

/** Acquires a connection, waits for the turn of this response, restores the client secret, joins the feed of the intent. */
async function openStream(context: RouterContext, req: Request, res: Response, id: string): Promise<void> {
  const { browserCookie, events, connectionLimiter, observer } = context;
  const browser = browserHashOf(browserCookie, req);
  const visitor: ConnectionOwner = {
    browser: browser && Buffer.from(browser).toString('latin1'),
    ...rateLimitKey(req.ip),
  };
  if (events.isClosed) return endStreamForReconnect(res, observer, id);
  try {
    connectionLimiter.acquire(visitor);
  } catch (error) {
    const problem = toProblemDetails(error);
    // Not logged: rejections come in large numbers.
    sendProblemDetails(res, problem, { 'Retry-After': String(retryAfterSeconds) });
    observer?.emit({ type: 'stream_rejected', intent: id, code: problem.code });
    return;
  }
  const leavePipeline = joinPipeline(req.socket);
  const release = (): void => {
    connectionLimiter.release(visitor);
    leavePipeline();
  };
  // No handler follows. The reference would keep objects of Express in memory.
  req.next = undefined;
  // At the end of the stream this session is minutes old: saving it would undo a logout, or a change of the basket.
  skipSessionSave(req);
  if (!(await waitForTurn(req, res)) || isResponseSent(res)) return release();
  const connection = new SseConnection(res, req.get('last-event-id'));
  let feed: IntentFeed | undefined;
  res.once('close', () => {
    release();
    feed?.leave(connection, visitor);
  });
  const description = await restoreClientSecret(context, req, res, id);
  if (isResponseSent(res)) return;
  if (events.isClosed) return endStreamForReconnect(res, observer, id);
  feed = events.join(id, connection);
  if (description !== undefined) connection.send(descriptionFrame(description));
  if (observer) observeStream(observer, res, id);
}

/** Whether nothing more can be sent: the headers are sent, or the client has disconnected. */
function isResponseSent(res: Response): boolean {
  return res.headersSent || res.writableEnded || res.destroyed;
}

function observeStream({ emit }: Observer, res: Response, intent: string): void {
  const openedAtMs = performance.now();
  emit({ type: 'stream_opened', intent });
  res.once('close', () =>
    emit({ type: 'stream_closed', intent, durationMs: Math.round(performance.now() - openedAtMs) }),
  );
}

/** A browser reconnects after a stream that ended, but not after an error response. */
function endStreamForReconnect(res: Response, observer: Observer | undefined, intent: string): void {
  writeEventHeaders(res);
  res.end(closingFrame());
  observer?.emit({ type: 'stream_rejected', intent, code: 'closing' });
}
