/** What went wrong, in words for a person. */
export class WalletError extends Error {}

/** The names of the simulated wallets. */
export async function fetchWallets() {
  return (await call('/wallet/api/wallets')).wallets;
}

/** The newest intents with their state. */
export async function fetchIntents() {
  return (await call('/wallet/api/intents')).intents;
}

/** Scans, confirms or rejects what a code stands for. */
export function act(action, wallet, code) {
  return post(`/wallet/api/${action}`, { wallet, code });
}

/** Posts JSON to an API of the sequencer's pages. */
export function post(address, body) {
  return call(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Asks an API of the sequencer's pages. */
export async function call(address, init) {
  let response;
  try {
    response = await fetch(address, init);
  } catch {
    throw new WalletError('The embedded sequencer does not answer. Is it still running?');
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new WalletError(explain(body.error ?? {}));
}

const explanations = {
  invalid_client_secret: 'This is not a wallet code. Copy the whole code or link from the shop and try again.',
  unknown_currency: 'This code names a currency that the wallet does not know.',
  intent_not_found:
    'The sequencer does not know this request. Without a state file it forgets everything when it restarts: go back to the shop and start again.',
  invalid_signature: 'A signature on this request does not verify. Somebody may have changed it, so nothing was done.',
  malformed_message: 'The request is not what its code says. Somebody may have changed it, so nothing was done.',
};

function explain({ code, message }) {
  return explanations[code] ?? message ?? 'Something went wrong in the embedded sequencer.';
}
