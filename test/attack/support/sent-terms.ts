import { formatBase58 } from '../../../src/keys/base58.js';
import { decode, v1 } from '../../../src/wire/codec.js';

/** The terms of an intent that was sent to the sequencer. */
export interface SentTerms {
  readonly kind: 'payment' | 'login';
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
  readonly destination?: string | undefined;
  readonly domain?: string | undefined;
}

/** The terms of the sent intents in order, without missing fields. */
export function sentTerms(calls: readonly { readonly method: string; readonly body: Uint8Array }[]): SentTerms[] {
  return calls.filter(({ method }) => method === 'createIntent').map(({ body }) => termsIn(body));
}

function termsIn(body: Uint8Array): SentTerms {
  const { requestToReceiveBill: payment, requestToLogin: login } = decode(v1.Message, body);
  if (!payment) return { kind: 'login', domain: login?.domain?.domain ?? undefined };
  const { nativeAmount: amount, currency } = payment.partial ?? payment.exact ?? {};
  const destination = formatBase58(payment.requestorAccount?.value ?? new Uint8Array());
  const terms = { kind: 'payment', amount: amount ?? undefined, currency: currency ?? undefined, destination } as const;
  return payment.domain ? { ...terms, domain: payment.domain.domain ?? undefined } : terms;
}
