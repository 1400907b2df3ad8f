import { parseBase58 } from '../keys/base58.js';
import type { ConfigOptions, Environment, WebhookConfig } from './config.js';
import type { Report } from './report.js';

const serviceKeyMend =
  'INTENT_SERVICE_KEY=<the public key that your payment service signs webhooks with, Base58; several, separated by commas>';

/** Whose webhook calls are taken. The embedded sequencer tells its key and can be told where the site is, so needs neither. */
export function readWebhook(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): WebhookConfig | undefined {
  if (!options.webhook) return undefined;
  if (options.routes?.webhook === false) {
    const mend = 'Leave webhook out, or give the route a path: routes: { webhook: "/intent/webhook" }';
    report.problem('webhook', 'It is true, and its route is switched off.', mend);
  }
  // A new key is drawn at every start of the embedded sequencer: one that is set is that of another service.
  if (embedded) return Object.freeze({ serviceKeys: undefined });
  if (!(options.origin ?? env.INTENT_ORIGIN)) {
    const problem = 'The service calls webhooks at an absolute URL, and the origin of this site is not set.';
    report.problem('INTENT_ORIGIN', problem, 'INTENT_ORIGIN=https://example.com (no path, no slash at the end)');
  }
  return Object.freeze({ serviceKeys: readServiceKeys(options.serviceKey ?? env.INTENT_SERVICE_KEY ?? '', report) });
}

function readServiceKeys(text: string, report: Report): readonly string[] {
  if (text === '') {
    report.problem('INTENT_SERVICE_KEY', 'Webhooks are signed by the service, and its key is not set.', serviceKeyMend);
    return [];
  }
  const keys = text.split(',').map((key) => key.trim());
  for (const key of keys) {
    report.read('INTENT_SERVICE_KEY', serviceKeyMend, () => parseBase58(key, 32, 'invalid_key'));
  }
  return Object.freeze([...new Set(keys)]);
}
