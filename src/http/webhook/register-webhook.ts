import type { Request } from 'express';
import type { Config } from '../../config/config.js';
import type { IntentClient } from '../../sequencer/intent-client.js';
import { localOriginOf } from '../request/local-origin.js';
import { requestIdOf } from '../request/request-id.js';
import type { Logger } from '../response/logger.js';

/** Registers this site's webhook for an intent that `req` has created; returns at once and never throws. */
export type RegisterWebhook = (intent: string, req: Request) => void;

/** More than these at once would take the connections that the creation of intents needs. */
const maxAtOnce = 32;

/**
 * Registering goes on beside the answer to the browser, which waits for none of it: a webhook only lets the site look a
 * little sooner, so it may neither slow an intent down nor let it fail. It is in time all the same: a person has to scan
 * the code first. Each takes as long as a call to the service may, and is then given up with a line in the log.
 */
export function webhookRegistrar(
  { origin, routes, webhook }: Config,
  client: IntentClient,
  logger: Logger,
): RegisterWebhook {
  let running = 0;
  const tell = (intent: string, req: Request, reason: string): void =>
    logger.warn(`express-intents: the webhook of ${intent} is not registered: ${reason}`, {
      requestId: requestIdOf(req).value,
    });

  async function register(intent: string, req: Request, url: string): Promise<void> {
    running += 1;
    try {
      await client.registerWebhook({ intent, url });
    } catch (error) {
      tell(intent, req, error instanceof Error ? error.message : String(error));
    }
    running -= 1;
  }

  return (intent, req) => {
    // The embedded sequencer calls this machine alone, where people may well see the site under another origin.
    const base = webhook?.serviceKeys ? origin : localOriginOf(req);
    if (base === undefined) return tell(intent, req, 'the browser has gone, and with it the port of this site.');
    if (running >= maxAtOnce) return tell(intent, req, `${maxAtOnce} others are being registered.`);
    void register(intent, req, `${base}${req.baseUrl}${routes.webhook}`);
  };
}
