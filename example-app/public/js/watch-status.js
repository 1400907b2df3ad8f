import { Problem } from './problem.js';
import { getStatus } from './shop-api.js';

/** @import { Status } from './shop-api.js' */

const intervalMs = 700;
/** After a failure the next question waits longer each time, up to this. */
const longestIntervalMs = 8_000;

/**
 * Asks for the status until the wallet has submitted. A hidden page asks nothing and asks at once when it is seen again,
 * which is how a person comes back from the wallet on a phone.
 * @param {string} id
 * @param {{ signal: AbortSignal, onStatus?: (status: Status) => void, onTrouble?: (problem: Problem) => void }} options
 * @returns {Promise<void>} rejects with a Problem that does not pass, or when aborted
 */
export async function untilSubmitted(id, { signal, onStatus, onTrouble }) {
  let waitMs = intervalMs;
  for (;;) {
    try {
      const status = await getStatus(id, signal);
      onStatus?.(status);
      if (status.intent_submitted) return;
      waitMs = intervalMs;
    } catch (error) {
      if (!(error instanceof Problem && error.isPassing)) throw error;
      onTrouble?.(error);
      waitMs = Math.min(waitMs * 2, longestIntervalMs);
    }
    await nextTurn(waitMs, signal);
  }
}

/**
 * Waits for the time, and while the page is hidden for as long as it is; coming into view ends the wait.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function nextTurn(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => document.hidden || end(resolve), ms);
    const onVisible = () => document.hidden || end(resolve);
    const onAbort = () => end(reject);
    const end = (settle) => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
      signal.removeEventListener('abort', onAbort);
      settle(signal.reason);
    };
    document.addEventListener('visibilitychange', onVisible);
    signal.addEventListener('abort', onAbort);
  });
}
