export function postJson(address, body) {
  return callApi(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Calls an API of the simulator. Rejects with an error whose message is for display. */
export async function callApi(address, init) {
  let response;
  try {
    response = await fetch(address, init);
  } catch {
    throw new Error(noConnection);
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const { code, message } = body.error ?? {};
  throw new Error(explanations[code] ?? message ?? 'Internal error in the simulator.');
}

export const noConnection = 'No connection to the simulator. Check that it is running.';

const explanations = {
  invalid_client_secret: 'This is not a valid code. Copy the whole code or link from the shop and try again.',
  unknown_currency: 'The wallet does not support the currency of this request.',
  intent_not_found:
    'Unknown intent. Without a state file, the simulator loses all intents when it restarts. Start again in the shop.',
  invalid_signature: 'A signature is not valid. The request may have been changed, and was not confirmed.',
  malformed_message: 'The request does not match its code. It may have been changed, and was not confirmed.',
};
