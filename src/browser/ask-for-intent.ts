import { call } from './api.js';
import type { IntentFlow } from './intent-flow.js';
import { isRefusal, problemOf } from './problem.js';

/**
 * Has the site create an intent, and gives its client secret. While the answer may only have been lost a payment keeps its
 * key, so that trying again brings no second one. A login is begun anew: its time runs from when it was created.
 * @throws {Problem}
 */
export async function askForIntent(flow: IntentFlow, signal: AbortSignal): Promise<string> {
  const { mode, routes, what } = flow.settings;
  const known = mode === 'payment' && flow.key;
  const key = known || crypto.randomUUID();
  flow.key = key;
  try {
    return (await call<{ client_secret: string }>(routes.intent, signal, what, key)).client_secret;
  } catch (error) {
    const problem = problemOf(error);
    if (isRefusal(problem)) {
      flow.key = undefined;
      // The server knows the key from another request.
      if (known && problem.status === 422) return askForIntent(flow, signal);
    }
    throw problem;
  }
}
