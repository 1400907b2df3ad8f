import { amountIn, formatAmount } from './amount.js';
import { call } from './api.js';
import { type ClientSecret, parseClientSecret } from './client-secret.js';
import { completeLogin, type User } from './complete-login.js';
import { delay } from './delay.js';
import type { Emit } from './events.js';
import type { IntentDialog, State } from './intent-dialog.js';
import { intentIdOf } from './intent-id.js';
import { loadTexts, localeOf } from './locale.js';
import { forgetPending, recallPending, rememberPending } from './pending.js';
import { Problem, problemOf } from './problem.js';
import { problemText } from './problem-text.js';
import { qrCode } from './qr-code.js';
import { requireThat } from './require-that.js';
import { returnUrl, walletLink } from './return-url.js';
import type { Settings } from './settings.js';
import { type Sign, startWatch, type Watch } from './watch.js';

/** How long "paid" stays on the screen before the page goes on, in milliseconds. */
const lingerMs = 1_200;

/** A payment or a login from the click to its end. It still hears of one that ends after its dialog was closed. */
export interface IntentFlow {
  readonly dialog: IntentDialog;
  readonly read: () => Settings;
  readonly emit: Emit;
  /** Every intent that may still be confirmed; more than one after a second try. */
  readonly watches: Map<string, Watch>;
  settings: Settings;
  state: State | 'idle';
  /** Of the dialog that is open, from its opening to its end. */
  attempt?: AbortController | undefined;
  given?: string | undefined;
  onGiven?: (() => void) | undefined;
  latestId?: string | undefined;
  /** The intent whose code is on the screen. */
  shownId?: string | undefined;
  endsAtMs: number;
  timer?: ReturnType<typeof setTimeout>;
}

export const createFlow = (dialog: IntentDialog, read: () => Settings, emit: Emit): IntentFlow => ({
  dialog,
  read,
  emit,
  watches: new Map(),
  settings: {} as Settings,
  state: 'idle',
  endsAtMs: 0,
});

/** Looks after what was begun before a reload. */
export function restore(flow: IntentFlow): void {
  flow.settings = flow.read();
  const id = recallPending(flow.settings.what);
  if (id) void watch(flow, id, true).ask();
}

/** Opens the dialog and creates an intent; does nothing while one is under way. */
export async function begin(flow: IntentFlow): Promise<void> {
  if (flow.attempt) return;
  const settings = flow.read();
  const attempt = new AbortController();
  const { signal } = attempt;
  flow.settings = settings;
  flow.attempt = attempt;
  flow.latestId = undefined;
  await loadTexts(settings.locale);
  if (signal.aborted) return;
  flow.dialog.open(localeOf(settings.locale), settings);
  show(flow, 'preparing');
  try {
    if (!isSecureContext) throw new Problem('insecure_page');
    const secret = await obtain(flow, signal);
    if (!signal.aborted) await present(flow, secret, signal);
  } catch (error) {
    if (!signal.aborted) fail(flow, problemOf(error));
  }
}

/** A new intent in place of one that came to nothing; the old one is still watched. */
export function retry(flow: IntentFlow): void {
  if (!isReason(flow.state)) return;
  // At once, so that a second click finds nothing to try again.
  flow.state = 'preparing';
  flow.attempt = undefined;
  for (const watch of flow.watches.values()) watch.rest();
  void begin(flow);
}

/** Takes a client secret for the intent that is being begun, or the next one. @throws {TypeError} */
export function give(flow: IntentFlow, clientSecret: string): void {
  payloadOf(clientSecret, flow.read().mode);
  if (flow.shownId && flow.attempt) {
    void present(flow, clientSecret, flow.attempt.signal);
    return;
  }
  flow.given = clientSecret;
  flow.onGiven?.();
}

/** The person has closed the dialog. A payment that the wallet has scanned may still be confirmed, so it is still watched. */
export async function closed(flow: IntentFlow): Promise<void> {
  const { state, watches, latestId: intent } = flow;
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

async function obtain(flow: IntentFlow, signal: AbortSignal): Promise<string> {
  const { mode, order, amount, routes, locale } = flow.settings;
  // What was given for an earlier click is not for the handler of this one.
  const before = flow.given;
  flow.given = undefined;
  const isReplaced = await flow.emit('invoke', { mode, order });
  if (isReplaced && !flow.given) {
    await new Promise<void>((resolve) => {
      flow.onGiven = resolve;
    });
  }
  const given = flow.given ?? before;
  flow.given = undefined;
  if (given) return given;
  // The price is the server's business, so this says what is bought and nothing else.
  const answer = call<{ client_secret: string }>(routes.intent, signal, { mode, order, amount });
  // The first amount a page formats takes tens of milliseconds. They pass here, while the server is asked.
  formatAmount('1.00', 'usd', locale);
  return (await answer).client_secret;
}

async function present(flow: IntentFlow, secret: string, signal: AbortSignal): Promise<void> {
  const { mode, walletUrl, expiresInMs, what, urls } = flow.settings;
  const payload = payloadOf(secret, mode);
  const id = await intentIdOf(payload);
  if (signal.aborted) return;
  const amount = mode === 'payment' ? amountIn(payload, flow.dialog.locale.tag) : '';
  rememberPending(what, id);
  clearTimeout(flow.timer);
  flow.timer = setTimeout(() => expire(flow), expiresInMs);
  flow.endsAtMs = Date.now() + expiresInMs;
  flow.latestId = id;
  flow.shownId = id;
  // Whoever scans does so with another device, which has no business on the pages of this one.
  const code = qrCode(walletUrl ? walletLink(walletUrl, secret) : secret);
  const back = Object.entries(urls).map(([name, url]) => [name, returnUrl(url, id)]);
  flow.dialog.showCode(code, amount, walletUrl && walletLink(walletUrl, secret, Object.fromEntries(back)));
  show(flow, 'waiting');
  watch(flow, id);
}

function payloadOf(secret: string, mode: Settings['mode']): ClientSecret['payload'] {
  const { kind, payload } = parseClientSecret(secret);
  requireThat(kind === mode, 'client secret', mode);
  return payload;
}

function watch(flow: IntentFlow, id: string, isRestored = false): Watch {
  const { watches, settings } = flow;
  const known = watches.get(id);
  if (known) return known;
  const watch = startWatch(id, settings.routes, (sign) => hear(flow, watch, sign, isRestored));
  watches.set(id, watch);
  return watch;
}

function unwatch(flow: IntentFlow, watch: Watch): void {
  watch.stop();
  flow.watches.delete(watch.id);
}

function unwatchAll(flow: IntentFlow): void {
  for (const watch of flow.watches.values()) unwatch(flow, watch);
}

function hear(flow: IntentFlow, watch: Watch, sign: Sign, isRestored: boolean): void {
  const { id } = watch;
  if (sign === 'submitted') {
    void succeed(flow, id);
    return;
  }
  if (sign === 'unknown' && isRestored) {
    const { what } = flow.settings;
    if (recallPending(what) === id) forgetPending(what);
    unwatch(flow, watch);
  }
  if ((sign === 'scanned' || sign === 'rejected') && !watch.isScanned) {
    watch.isScanned = true;
    void flow.emit('scanned', { intent: id });
  }
  if (id !== flow.shownId) return;
  if (Date.now() >= flow.endsAtMs) expire(flow);
  else if (sign === 'rejected') putAway(flow, sign);
  else show(flow, sign === 'silent' ? 'offline' : watch.isScanned ? 'scanned' : 'waiting');
}

function expire(flow: IntentFlow): void {
  const { watches, settings, dialog } = flow;
  const { expired, noticed } = dialog.locale.texts;
  for (const watch of watches.values()) watch.rest();
  putAway(flow, 'expired', settings.mode === 'payment' ? `${expired} ${noticed}` : undefined);
}

/** Takes the code off the page; what it stood for is still watched. */
function putAway(flow: IntentFlow, state: State, text?: string): void {
  clearTimeout(flow.timer);
  flow.shownId = undefined;
  flow.dialog.clearCode();
  show(flow, state, text);
}

async function succeed(flow: IntentFlow, id: string): Promise<void> {
  const { completesLogin, mode, routes, urls, what } = flow.settings;
  unwatchAll(flow);
  // Another intent may just be on its way, and must not be shown over this.
  flow.attempt?.abort();
  const attempt = new AbortController();
  flow.attempt = attempt;
  let user: User | undefined;
  if (completesLogin) {
    putAway(flow, 'confirming');
    try {
      user = await completeLogin(routes.session, id, attempt.signal);
    } catch (error) {
      if (attempt.signal.aborted) return;
      if (mode === 'login') return failLogin(flow, problemOf(error));
      void flow.emit('error', { error: problemOf(error) });
    }
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
  if (isSeen) fail(flow, problem);
  else endAttempt(flow);
  if (!isSeen && problem.code !== 'intent_not_found') void flow.emit('error', { error: problem });
}

function fail(flow: IntentFlow, problem: Problem): void {
  const { dialog, settings, watches } = flow;
  const { texts } = dialog.locale;
  const sentence = problemText(problem, texts);
  // Said only where it is certain: no code was shown that a wallet could have paid.
  const isUnpaid = settings.mode === 'payment' && watches.size === 0;
  putAway(flow, 'problem', isUnpaid ? `${sentence} ${texts.unpaid}` : sentence);
  void flow.emit('error', { error: problem });
}

function show(flow: IntentFlow, state: State, text?: string): void {
  flow.state = state;
  flow.dialog.show(state, text);
}

function endAttempt(flow: IntentFlow): void {
  clearTimeout(flow.timer);
  flow.attempt?.abort();
  flow.state = 'idle';
  flow.attempt = undefined;
  flow.shownId = undefined;
  flow.onGiven = undefined;
}

const isReason = (state: string): state is 'rejected' | 'expired' | 'problem' => /rejected|expired|problem/.test(state);
