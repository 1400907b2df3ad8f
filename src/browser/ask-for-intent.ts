import { call } from './api.js';
import { type IntentFlow, show } from './intent-flow.js';
import { persist } from './persist.js';
import { isRefusal, type Problem } from './problem.js';

/** The last wait begins by then, and takes four to six seconds: people are kept for about ten. */
const patienceMs = 7_000;

/**
 * Has the site create an intent, and gives its client secret. What passes by itself, as a restart or a short outage, is
 * tried again. While the answer may only have been lost a payment keeps its key, so that trying again brings no second one.
 * A login is begun anew: its time runs from when it was created.
 * @throws {Problem}
 */
export function askForIntent(flow: IntentFlow, signal: AbortSignal): Promise<string> {
  const { mode, routes, what } = flow.settings;
  let known: string | false | undefined;
  const isPassing = (problem: Problem): boolean => {
    const { code, status } = problem;
    // Nobody has answered, or somebody who cannot at the moment. That the payment service refuses this intent stays so.
    if (!isRefusal(problem)) return !status || (status > 501 && !/r_error|refused/.test(code));
    flow.key = undefined;
    // The server knows the key from another request.
    return !!known && status === 422;
  };
  return persist(signal, patienceMs, isPassing, async (failures) => {
    // What has passed after a moment is not worth a word.
    if (failures > 1) show(flow, 'offline');
    known = mode === 'payment' && flow.key;
    flow.key = known || crypto.randomUUID();
    return (await call<{ client_secret: string }>(routes.intent, signal, what, flow.key)).client_secret;
  });
}
