import type { Request } from 'express';
import type { Config } from '../../config/config.js';
import { messageOf } from '../../errors.js';
import type { IntentClient } from '../../sequencer/intent-client.js';
import type { Logger } from '../logger.js';
import { localOriginOf } from '../request/origin-guard.js';
import { requestIdOf } from '../request/request-id.js';

/** Registers this site's webhook for an intent that `req` has created; returns immediately and never throws. */
export type RegisterWebhook = (intent: string, req: Request) => void;

/** More concurrent calls would take connections from the creation of intents. */
const maxConcurrent = 32;

/**
 * Registers webhooks in the background. A webhook only makes a recheck happen sooner, so it must neither delay nor fail the
 * creation of an intent. It is early enough: a person has to scan the code first. A call that fails or times out is logged and
 * not repeated.
 */
export function webhookRegistrar(
  { origin, routes, webhook }: Config,
  client: IntentClient,
  logger: Logger,
): RegisterWebhook {
  let running = 0;
  const warn = (intent: string, req: Request, reason: string): void =>
    logger.warn(`express-intents: the webhook of ${intent} is not registered: ${reason}`, {
      requestId: requestIdOf(req).value,
    });

  async function register(intent: string, req: Request, url: string): Promise<void> {
    running += 1;
    try {
      await client.registerWebhook({ intent, url });
    } catch (error) {
      warn(intent, req, messageOf(error));
    }
    running -= 1;
  }

  return (intent, req) => {
    // The embedded sequencer calls only this machine, where the site may have another origin than visitors see.
    const base = webhook?.webhookPublicKeys ? origin : localOriginOf(req);
    if (base === undefined) return warn(intent, req, 'the browser has disconnected, so the port is unknown.');
    if (running >= maxConcurrent) return warn(intent, req, `${maxConcurrent} others are being registered.`);
    void register(intent, req, `${base}${req.baseUrl}${routes.webhook}`);
  };
}
