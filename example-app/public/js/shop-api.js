import { Problem } from './problem.js';

/** @typedef {{ exists: boolean, code_scanned: boolean, intent_submitted: boolean }} Status */

/**
 * Begins a payment or a login. The price is the shop's business, so an order names an article and nothing else.
 * @param {{ mode: 'payment' | 'login', order?: { article: string } }} what
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the client secret
 */
export async function createIntent(what, signal) {
  const { client_secret: clientSecret } = await call('POST', '/intent', what, signal);
  return clientSecret;
}

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Status>}
 */
export const getStatus = (id, signal) => call('GET', `/status/${encodeURIComponent(id)}`, undefined, signal);

/**
 * @param {string} id of a login the wallet has confirmed
 * @param {AbortSignal} signal
 */
export const completeLogin = (id, signal) => call('POST', '/session', { id }, signal);

export const logOut = () => call('DELETE', '/session');

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @throws {Problem}
 */
async function call(method, path, body, signal) {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const init = { method, headers, body: JSON.stringify(body), signal: signal ?? null };
  let response;
  let answer;
  try {
    response = await fetch(path, init);
    const text = await response.text();
    answer = text === '' ? {} : JSON.parse(text);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw response?.ok === false ? new Problem('unreadable', response.status) : new Problem('offline');
  }
  if (response.ok) return answer;
  throw new Problem(answer.code, response.status, answer.detail);
}
