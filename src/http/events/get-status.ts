import type { Response } from 'express';
import type { SharedStatus } from '../../sequencer/watch/status-cache.js';
import { disconnectSignal } from '../request/client-disconnect.js';
import { sendJson } from '../response/respond.js';
import type { Handler, RouterContext } from '../router-context.js';
import { statusBody } from './status-body.js';

/** `GET /status/:id`: the three flags of the interface, section 2.6. */
export function getStatusHandler({ status }: RouterContext): Handler {
  return (_req, res, id) => {
    const known = status.known(id);
    if (known) return sendJson(res, 200, statusBody(known));
    return ask(status, res, id);
  };
}

/** Who asks for what is not known takes part in one call upstream, for as long as the browser is there. */
async function ask(status: SharedStatus, res: Response, id: string): Promise<void> {
  sendJson(res, 200, statusBody(await status.get(id, { signal: disconnectSignal(res) })));
}
