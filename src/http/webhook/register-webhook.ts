import type { Request } from 'express';
import type { Config } from '../../config/config.js';
import { messageOf, withPeriod } from '../../errors.js';
import { localOriginOf } from '../../net/url.js';
import type { IntentClient } from '../../sequencer/intent-client.js';
import type { Logger } from '../logger.js';
import { requestIdOf } from '../request/request-id.js';

export interface WebhookRegistrar {
  /** Registers this site's webhook for an intent that `req`, or the site itself, created. Returns immediately and never throws. */
  readonly register: (intent: string, req: Request | undefined) => void;
  /** Sets the mount path of the router, which only a request reveals, for intents that the site itself creates. */
  readonly setMountPath: (path: string) => void;
}

/** More concurrent calls would take connections from the creation of intents. */
const maxConcurrent = 32;

/** Registers webhooks in the background, without a retry: a webhook only speeds up a recheck. */
export function webhookRegistrar(
  { origin, routes, webhook }: Config,
  client: IntentClient,
  logger: Logger,
): WebhookRegistrar {
  let running = 0;
  let mountPath = '';
  const warn = (intent: string, req: Request | undefined, reason: string): void =>
    logger.warn(
      `express-intents: the webhook of ${intent} was not registered: ${reason} The ledger or an open page polls the intent.`,
      { requestId: req && requestIdOf(req).value },
    );

  async function send(intent: string, req: Request | undefined, url: string): Promise<void> {
    running += 1;
    try {
      await client.registerWebhook({ intent, url });
    } catch (error) {
      warn(intent, req, withPeriod(messageOf(error)));
    }
    running -= 1;
  }

  const register: WebhookRegistrar['register'] = (intent, req) => {
    // The simulator calls this machine directly, where the origin may differ from the public one.
    const base = webhook?.webhookPublicKeys ? origin : req && localOriginOf(req);
    // Without a request the local port is unknown. The ledger polls the intent.
    if (base === undefined && !req) return;
    if (base === undefined) {
      return warn(intent, req, 'no local port: the browser disconnected, or the site listens on a Unix socket.');
    }
    if (running >= maxConcurrent) return warn(intent, req, `${maxConcurrent} other registrations are running.`);
    void send(intent, req, `${base}${req?.baseUrl ?? mountPath}${routes.webhook}`);
  };
  const setMountPath = (path: string): void => {
    mountPath = path;
  };
  return { register, setMountPath };
}
