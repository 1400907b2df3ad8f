import { sendJson } from './respond.js';
import type { Handler, RouterContext } from './router-context.js';

/** `GET /status/:id`: the three flags of the interface, section 2.6. */
export function getStatusHandler({ client }: RouterContext): Handler {
  return async (_req, res, id) => {
    const { exists, codeScanned, intentSubmitted } = await client.paymentIntents.getStatus(id);
    sendJson(res, 200, { exists, code_scanned: codeScanned, intent_submitted: intentSubmitted });
  };
}
