/** A failed call, with a message for display. */
class RequestError extends Error {}

/** The names of the simulated wallets. */
export async function fetchWallets() {
  return (await call('/wallet/api/wallets')).wallets;
}

/** The newest intents with their state. */
export async function fetchIntents() {
  return (await call('/wallet/api/intents')).intents;
}

/** Scans, confirms or declines the request of a code. */
export function act(action, wallet, code) {
  return post(`/wallet/api/${action}`, { wallet, code });
}

/** Posts JSON to an API of the sequencer. */
export function post(address, body) {
  return call(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Calls an API of the sequencer. */
export async function call(address, init) {
  let response;
  try {
    response = await fetch(address, init);
  } catch {
    throw new RequestError('The embedded sequencer does not answer. Is it still running?');
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new RequestError(explain(body.error ?? {}));
}

const explanations = {
  invalid_client_secret: 'This is not a wallet code. Copy the whole code or link from the shop and try again.',
  unknown_currency: 'This code names a currency that the wallet does not know.',
  intent_not_found:
    'The sequencer does not know this request. Without a state file it forgets all requests when it restarts. Go back to the shop and start again.',
  invalid_signature: 'A signature on this request is not valid. The request may have been changed. Nothing was done.',
  malformed_message: 'The request does not match its code. It may have been changed. Nothing was done.',
};

function explain({ code, message }) {
  return explanations[code] ?? message ?? 'The embedded sequencer met an error.';
}
