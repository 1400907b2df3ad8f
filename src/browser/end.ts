import { completeLogin, type User } from './complete-login.js';
import { delay } from './delay.js';
import { endAttempt, type IntentFlow, isReason, putAway, unwatch, unwatchAll } from './intent-flow.js';
import { forgetPending } from './pending.js';
import { isRefusal, type Problem, problemOf } from './problem.js';
import { problemText } from './problem-text.js';
import { returnUrl } from './return-url.js';
import type { Watch } from './watch.js';

// The ways in which a payment or a login ends: confirmed, failed, given up by the person, or taken out of the page.

/** How long "paid" stays on the screen before the page goes on, in milliseconds. */
const lingerMs = 1_200;

/** The wallet has confirmed an intent: completes the login where there is one, and goes on. */
export async function succeed(flow: IntentFlow, watch: Watch): Promise<void> {
  const { id, settings } = watch;
  const { completesLogin, mode, urls, what } = settings;
  // Another order is on the screen, and stays there.
  if (flow.attempt && what !== flow.settings.what && !completesLogin) {
    unwatch(flow, watch);
    forgetPending(what);
    void flow.emit('success', { intent: id });
    return;
  }
  unwatchAll(flow);
  flow.settings = settings;
  // Another intent may just be on its way, and must not be shown over this.
  flow.attempt?.abort();
  const attempt = new AbortController();
  flow.attempt = attempt;
  let user: User | undefined;
  if (completesLogin) {
    putAway(flow, 'confirming');
    try {
      user = await completeLogin(flow, id, attempt.signal);
    } catch (error) {
      if (attempt.signal.aborted) return;
      if (mode === 'login') return failLogin(flow, problemOf(error));
      void flow.emit('error', { error: problemOf(error) });
    }
  }
  // The person has said no, and with that closed the dialog.
  if (mode === 'login' && !user) {
    flow.stage = 'waiting';
    return closed(flow);
  }
  forgetPending(what);
  putAway(flow, 'done', flow.dialog.locale.texts[mode === 'login' ? 'loggedIn' : 'paid']);
  const [isStopped] = await Promise.all([flow.emit('success', { intent: id, user }), delay(lingerMs)]);
  const finish = (): void => {
    if (flow.attempt !== attempt) return;
    endAttempt(flow);
    flow.dialog.close();
  };
  if (!urls.success || isStopped) return finish();
  // The page may come back as it was left.
  addEventListener('pageshow', finish, { once: true });
  location.assign(returnUrl(urls.success, id));
}

/** One that was begun before a reload may have been completed then; nobody waits to be told. */
function failLogin(flow: IntentFlow, problem: Problem): void {
  forgetPending(flow.settings.what);
  const isSeen = flow.dialog.element.open;
  if (isSeen || problem.code !== 'intent_not_found') fail(flow, problem);
  if (!isSeen) endAttempt(flow);
}

export function fail(flow: IntentFlow, problem: Problem): void {
  const { dialog, settings, watches } = flow;
  const { texts } = dialog.locale;
  const sentence = problemText(problem, texts);
  // Said only where it is certain: no code was shown that a wallet could have paid.
  const isUnpaid = settings.mode === 'payment' && watches.size === 0;
  putAway(
    flow,
    'problem',
    isUnpaid ? `${sentence} ${texts.unpaid}` : sentence,
    isRefusal(problem) && problem.code !== 'intent_not_found',
  );
  void flow.emit('error', { error: problem });
}

/** The person has closed the dialog. A payment that the wallet has scanned may still be confirmed, so it is still watched. */
export async function closed(flow: IntentFlow): Promise<void> {
  const { stage: state, watches, latestId: intent } = flow;
  // What is being confirmed goes on to its end.
  if (state === 'confirming') return;
  endAttempt(flow);
  if (state === 'done' || state === 'idle') return;
  const { urls, what, mode } = flow.settings;
  const reason = isReason(state) ? state : 'dismissed';
  for (const watch of watches.values()) {
    if (watch.isScanned && mode === 'payment') watch.rest();
    else unwatch(flow, watch);
  }
  if (reason === 'rejected' || watches.size === 0) forgetPending(what);
  const isStopped = await flow.emit('cancel', { intent, reason });
  if (urls.cancel && !isStopped) location.assign(returnUrl(urls.cancel, intent));
}

/** Ends everything that goes on, as when the element leaves the page. What is pending is looked after when it comes back. */
export function stop(flow: IntentFlow): void {
  endAttempt(flow);
  unwatchAll(flow);
  flow.dialog.close();
}
