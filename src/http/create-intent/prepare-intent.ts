import { IntentError } from '../../errors.js';
import type { RecordedTerms } from '../../ledger/ledger.js';
import type { PreparedIntent } from '../../sequencer/intent-client.js';
import type { RouterContext } from '../router-context.js';

/**
 * Signs an intent for these terms, a login where there are none; from its client secret the same one again.
 * @throws {IntentError} `not_supported` for a login where the site has none
 */
export function prepareIntent(
  { client, config }: Pick<RouterContext, 'client' | 'config'>,
  terms: RecordedTerms | undefined,
  clientSecret?: string,
): Promise<PreparedIntent> {
  if (!terms) return client.loginIntents.prepare({ ...loginParameters(config), clientSecret });
  const { amount, currency, destination, login } = terms;
  const parameters = { amount, currency, destination, clientSecret, ...(login && loginParameters(config)) };
  return client.paymentIntents.prepare(parameters);
}

function loginParameters({ login }: RouterContext['config']) {
  if (!login) throw new IntentError('not_supported', 'This site has no logins.');
  const { domain, keyRing } = login;
  return { login: { verifier: keyRing.signer.publicKey, domain }, signers: [keyRing.signer] };
}
