import type { Config } from '../config/config.js';
import type { RouterLogger } from '../http/logger.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RouterSettings } from './options.js';

/** Logs one line when the router is ready in production. URLs are reduced to their hosts. */
export function logReady(settings: RouterSettings, ledger: Ledger | undefined, logger: RouterLogger): void {
  if (!settings.config.production) return;
  void Promise.resolve(ledger?.ready()).then(
    () => logger.info(`express-intents: ready. ${readyLine(settings)}`),
    () => undefined,
  );
}

function readyLine({ config, options, resolveTerms }: RouterSettings): string {
  const served = [
    ...(resolveTerms ? ['payments'] : []),
    ...(config.login ? [`logins for ${config.login.domain}`] : []),
  ];
  const service = options.sequencer?.transport
    ? 'a custom transport'
    : hostOf(config.sequencer.grpcUrl ?? config.sequencer.url);
  return `Serves: ${served.join(', ') || 'no payments or logins from pages'}. Ledger: ${ledgerOf(config)}. Sequencer: ${service}.`;
}

function ledgerOf({ ledger }: Config): string {
  if (!ledger) return 'none';
  const { database } = ledger;
  return database.kind === 'embedded' ? `folder ${database.folder}` : `Postgres at ${hostOf(database.url)}`;
}

/** A URL without a host names a socket of this machine. */
function hostOf(url: string): string {
  return (URL.canParse(url) && new URL(url).host) || 'this machine';
}
