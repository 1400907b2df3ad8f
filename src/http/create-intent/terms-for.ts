import { IntentError } from '../../errors.js';
import type { RecordedTerms } from '../../ledger/ledger.js';
import { requestIdOf } from '../request/request-id.js';
import type { RouterContext } from '../router-context.js';
import type { AskedIntent } from './asked-intent.js';
import { recordedTerms } from './recorded-terms.js';

/** The terms of the intent that was asked for, from the site's hook; undefined for a login. @throws what the hook throws */
export async function termsFor(
  { termsOf, config, logger }: RouterContext,
  { mode, req, body }: AskedIntent,
): Promise<RecordedTerms | undefined> {
  if (mode === 'login') return undefined;
  if (!termsOf) throw new IntentError('not_supported', 'This site takes no payments.');
  const terms = await termsOf(req, body);
  try {
    return recordedTerms(terms, config);
  } catch (error) {
    const { amount, currency, destination } = terms;
    // What the browser may choose was checked before, so it is the site that asks for what cannot be asked for.
    if (error instanceof IntentError && error.status < 500) {
      const message = `express-intents: the payment hook's terms were refused: ${error.message}`;
      logger.warn(message, { requestId: requestIdOf(req).value, amount, currency, destination });
    }
    throw error;
  }
}
