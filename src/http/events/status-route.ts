import type { Response } from 'express';
import type { IntentStatus } from '../../sequencer/calls.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';
import { disconnectSignal } from '../request/client-disconnect.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { statusBody } from './sse-frame.js';

/** `GET /status/:id`: the three flags of the interface, section 2.6. */
export function getStatusHandler({ statusCache }: RouterContext): Handler {
  return (_req, res, id) => {
    const known = statusCache.peek(id);
    if (known) return sendStatus(res, known);
    return readStatus(statusCache, res, id);
  };
}

/** Shares an upstream call until the client disconnects. */
async function readStatus(statusCache: StatusCache, res: Response, id: string): Promise<void> {
  sendStatus(res, await statusCache.get(id, { signal: disconnectSignal(res) }));
}

function sendStatus(res: Response, status: IntentStatus): void {
  sendJson(res, 200, statusBody(status));
}
