import { IntentDialog, type State } from '../dialog/intent-dialog.js';
import { qrCode } from '../dialog/qr-code.js';
import type { Emit, User } from '../events.js';
import type { Settings } from '../options.js';
import { amountIn, localizeAmount } from '../texts/amount.js';
import { loadTexts, localeOf, problemText } from '../texts/locale.js';
import { call, isFinalRefusal, Problem, toProblem } from './api.js';
import { decodeClientSecret, deriveIntentId } from './client-secret.js';
import { finishLogin } from './finish-login.js';
import { forgetPending, recallPending, rememberPending } from './pending-intents.js';
import { delay, retryUntil } from './retry.js';
import { returnUrl, walletLink } from './return-url.js';
import { Watch, type WatchSignal } from './watch.js';

/** The time in which a retry can be scheduled. The last delay takes 4 to 6 s. */
const createPatienceMs = 7_000;

/** How long "paid" stays on the screen before the redirect. */
const lingerMs = 1_200;

/** The intents that the buttons of this page watch. After a reload, only one of two buttons restores the same intent. */
const watchedIds = new Set<string>();

type CancelReason = 'declined' | 'expired' | 'problem';

/** The states that offer a retry. A dialog closed in one of them was closed for that reason. */
const isRetryable = (stage: string): stage is CancelReason => /declined|expired|problem/.test(stage);

/**
 * One payment or login of a button, from the click to its end.
 *
 * Stages:
 * - idle: no dialog. A click starts an attempt.
 * - preparing: the site creates the intent, or a handler of `invoke` provides its client secret.
 * - waiting, scanned: the code is on the screen. The watch of the intent moves between them.
 * - offline: in preparing, the creation is being retried; later, neither stream nor status answers.
 * - declined, expired, problem: the code is gone. A retry starts the next attempt.
 * - confirming: the intent was submitted and the login is being completed. Closing the dialog does not stop it.
 * - done: success. Leads to the redirect or to idle.
 * Every stage leads to idle when the visitor closes the dialog or the element leaves the page.
 *
 * A payment can be submitted after its attempt: its watch continues until then, and its id stays in `sessionStorage` for
 * the next visit.
 */
export class IntentFlow {
  readonly dialog: IntentDialog;
  readonly #resolveSettings: () => Settings;
  readonly #emit: Emit;
  /** The watches of all intents that can still be submitted. Each retry adds one. */
  readonly #watches = new Map<string, Watch>();
  #settings = {} as Settings;
  #stage: State | 'idle' = 'idle';
  /** Set from the click until idle. */
  #attempt: AbortController | undefined;
  /** The idempotency key of the intent that is being created, while a repetition must not create a second one. */
  #idempotencyKey: string | undefined;
  #providedSecret: string | undefined;
  #onSecretProvided: (() => void) | undefined;
  #latestId: string | undefined;
  /** The intent whose code is on the screen. */
  #shownId: string | undefined;
  #expiresAtMs = 0;
  #expiryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, resolveSettings: () => Settings, emit: Emit) {
    this.dialog = new IntentDialog(
      host,
      () => void this.#onClosed(),
      () => this.#retry(),
    );
    this.#resolveSettings = resolveSettings;
    this.#emit = emit;
  }

  /** Opens the dialog and creates an intent, unless an attempt is active. */
  async start(): Promise<void> {
    if (this.#attempt) {
      // A login can be confirming without a dialog: it was closed, or the page was reloaded.
      if (this.#stage === 'confirming') await this.#open();
      return;
    }
    const attempt = new AbortController();
    const { signal } = attempt;
    this.#settings = this.#resolveSettings();
    this.#attempt = attempt;
    this.#latestId = undefined;
    this.#stage = 'preparing';
    await this.#open();
    if (signal.aborted) return;
    try {
      if (!isSecureContext) throw new Problem('insecure_page', 426);
      const secret = await this.#obtainSecret(signal);
      if (!signal.aborted) await this.#showCode(secret, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(toProblem(error));
    }
  }

  /** Sets the client secret for the current attempt, or for the next one. @throws {TypeError} */
  provideSecret(clientSecret: string): void {
    decodeClientSecret(clientSecret, this.#resolveSettings().mode);
    if (this.#shownId && this.#attempt) {
      void this.#showCode(clientSecret, this.#attempt.signal);
      return;
    }
    this.#providedSecret = clientSecret;
    this.#onSecretProvided?.();
  }

  /** Watches the intent that was pending before a reload. */
  restore(): void {
    this.#settings = this.#resolveSettings();
    const id = recallPending(this.#settings.orderJson);
    if (id && !watchedIds.has(id)) void this.#watch(id, true).poll();
  }

  /** Ends the attempt and all watches. Pending intents are restored when the element returns. */
  stop(): void {
    this.#endAttempt();
    this.#unwatchAll();
    this.dialog.close();
  }

  /** The previous intent is still watched. */
  #retry(): void {
    if (!isRetryable(this.#stage)) return;
    this.#attempt = undefined;
    for (const watch of this.#watches.values()) watch.slowDown();
    void this.start();
  }

  // ---- From the click to the code ----

  /** Opens the dialog, unless the stage changes while its texts load. */
  async #open(): Promise<void> {
    const attempt = this.#attempt;
    const settings = this.#settings;
    const stage = this.#stage;
    await loadTexts(settings.locale);
    if (this.#attempt !== attempt || this.#stage !== stage) return;
    this.dialog.open(localeOf(settings.locale), settings);
    if (stage === 'confirming') this.dialog.clearCode();
    this.#show(stage as State);
  }

  async #obtainSecret(signal: AbortSignal): Promise<string> {
    const { mode, order, locale } = this.#settings;
    // The handler of this click did not provide a secret that is older than the click.
    const before = this.#providedSecret;
    this.#providedSecret = undefined;
    const isPrevented = await this.#emit('invoke', { mode, order });
    if (isPrevented && !this.#providedSecret) {
      await new Promise<void>((resolve) => {
        this.#onSecretProvided = resolve;
      });
    }
    const provided = this.#providedSecret ?? before;
    this.#providedSecret = undefined;
    if (provided) return provided;
    const created = this.#createIntent(signal);
    // Formatting the first amount takes tens of milliseconds. Do it during the request.
    localizeAmount('1.00', 'usd', locale);
    return created;
  }

  /**
   * Creates an intent on the site, with retries during a restart or a short outage. A payment keeps its idempotency key
   * while the answer may be lost, so no second intent is created. A login gets a new key, because its time to live starts
   * at its creation.
   */
  #createIntent(signal: AbortSignal): Promise<string> {
    const { mode, routes, orderJson } = this.#settings;
    let repeatedKey: string | false | undefined;
    const mayRetry = (problem: Problem): boolean => {
      const { code, status } = problem;
      // Without an answer or with a 502, 503 or 504, unless the payment service refuses this intent.
      if (!isFinalRefusal(problem)) return !status || (status > 501 && !/r_error|refused/.test(code));
      this.#idempotencyKey = undefined;
      // The server knows the key from a different request.
      return !!repeatedKey && status === 422;
    };
    return retryUntil(signal, createPatienceMs, mayRetry, async (failures) => {
      // A single failure is not displayed.
      if (failures > 1) this.#show('offline');
      repeatedKey = mode === 'payment' && this.#idempotencyKey;
      this.#idempotencyKey = repeatedKey || crypto.randomUUID();
      return (await call<{ client_secret: string }>(routes.intent, signal, orderJson, this.#idempotencyKey))
        .client_secret;
    });
  }

  async #showCode(secret: string, signal: AbortSignal): Promise<void> {
    const { mode, walletUrl, expiresInMs, orderJson, urls } = this.#settings;
    this.#idempotencyKey = undefined;
    const payload = decodeClientSecret(secret, mode);
    const id = await deriveIntentId(payload);
    if (signal.aborted) return;
    const amount = mode === 'payment' ? amountIn(payload, this.dialog.locale.tag) : '';
    rememberPending(orderJson, id);
    clearTimeout(this.#expiryTimer);
    this.#expiryTimer = setTimeout(() => this.#expire(), expiresInMs);
    this.#expiresAtMs = Date.now() + expiresInMs;
    this.#latestId = id;
    this.#shownId = id;
    // The code is scanned by another device, which does not return to this page.
    const code = qrCode(walletUrl ? walletLink(walletUrl, secret) : secret);
    this.dialog.showCode(code, amount, walletUrl && walletLink(walletUrl, secret, urls, id));
    this.#show('waiting');
    this.#watch(id);
  }

  // ---- While the intent is watched ----

  #watch(id: string, isRestored = false): Watch {
    const known = this.#watches.get(id);
    if (known) return known;
    const watch = new Watch(id, this.#settings, (signal) => this.#onSignal(watch, signal, isRestored));
    this.#watches.set(id, watch);
    watchedIds.add(id);
    return watch;
  }

  #onSignal(watch: Watch, signal: WatchSignal, isRestored: boolean): void {
    const { id } = watch;
    if (signal === 'submitted') {
      void this.#succeed(watch);
      return;
    }
    if (signal === 'unknown' && isRestored) {
      const { orderJson } = watch.settings;
      if (recallPending(orderJson) === id) forgetPending(orderJson);
      this.#unwatch(watch);
    }
    if (/scanned|rejected/.test(signal) && !watch.isScanned) {
      watch.isScanned = true;
      void this.#emit('scanned', { intent: id });
    }
    if (id !== this.#shownId) return;
    if (Date.now() >= this.#expiresAtMs) this.#expire();
    else if (signal === 'rejected') this.#clearCode('declined');
    else this.#show(signal === 'offline' ? signal : watch.isScanned ? 'scanned' : 'waiting');
  }

  #expire(): void {
    const { expired, keepOpen } = this.dialog.locale.texts;
    for (const watch of this.#watches.values()) watch.slowDown();
    this.#clearCode('expired', this.#settings.mode === 'payment' ? `${expired} ${keepOpen}` : undefined);
  }

  #unwatch(watch: Watch): void {
    watch.stop();
    this.#watches.delete(watch.id);
    watchedIds.delete(watch.id);
  }

  #unwatchAll(): void {
    for (const watch of this.#watches.values()) this.#unwatch(watch);
  }

  // ---- Completion ----

  /** The intent was submitted: completes the login, emits `success` and redirects. */
  async #succeed(watch: Watch): Promise<void> {
    const { id, settings } = watch;
    const { completesLogin, mode, urls, orderJson } = settings;
    // Another order is on the screen and stays there.
    if (this.#attempt && orderJson !== this.#settings.orderJson && !completesLogin) {
      this.#unwatch(watch);
      forgetPending(orderJson);
      void this.#emit('success', { intent: id });
      return;
    }
    this.#unwatchAll();
    this.#settings = settings;
    // Another intent may be in creation. Its code must not replace this result.
    this.#attempt?.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    let user: User | undefined;
    if (completesLogin) {
      this.#clearCode('confirming');
      try {
        user = await finishLogin(id, settings.routes.session, attempt.signal, (userId) => this.#askUser(userId));
      } catch (error) {
        if (attempt.signal.aborted) return;
        if (mode === 'login') return this.#failLogin(toProblem(error));
        void this.#emit('error', { error: toProblem(error) });
      }
    }
    // The visitor declined and closed the dialog.
    if (mode === 'login' && !user) {
      this.#stage = 'waiting';
      return this.#onClosed();
    }
    forgetPending(orderJson);
    this.#clearCode('done', this.dialog.locale.texts[mode === 'login' ? 'loggedIn' : 'paid']);
    const [isPrevented] = await Promise.all([this.#emit('success', { intent: id, user }), delay(lingerMs)]);
    const finish = (): void => {
      if (this.#attempt !== attempt) return;
      this.#endAttempt();
      this.dialog.close();
    };
    if (!urls.success || isPrevented) return finish();
    // Back navigation can restore the page in this state.
    addEventListener('pageshow', finish, { once: true });
    location.assign(returnUrl(urls.success, id));
  }

  /** Asks the visitor to confirm the user. Opens the dialog, which can be closed by now. */
  async #askUser(userId: string): Promise<boolean> {
    const { askUser } = await import('../dialog/ask-user.js');
    await this.#open();
    return askUser(this.dialog.element, userId);
  }

  /** A login restored after a reload may have been completed before it. Without a dialog this is not reported. */
  #failLogin(problem: Problem): void {
    forgetPending(this.#settings.orderJson);
    const isOpen = this.dialog.element.open;
    if (isOpen || problem.code !== 'intent_not_found') this.#fail(problem);
    if (!isOpen) this.#endAttempt();
  }

  #fail(problem: Problem): void {
    const { texts } = this.dialog.locale;
    const text = problemText(problem, texts);
    // Certain only if no code was shown.
    const isUnpaid = this.#settings.mode === 'payment' && this.#watches.size === 0;
    const isFinal = isFinalRefusal(problem) && problem.code !== 'intent_not_found';
    this.#clearCode('problem', isUnpaid ? `${text} ${texts.unpaid}` : text, isFinal);
    void this.#emit('error', { error: problem });
  }

  /** The visitor closed the dialog. A scanned payment can still be submitted, so its watch continues. */
  async #onClosed(): Promise<void> {
    const stage = this.#stage;
    const intent = this.#latestId;
    if (stage === 'confirming') return;
    this.#endAttempt();
    if (/done|idle/.test(stage)) return;
    const { urls, orderJson, mode } = this.#settings;
    const reason = isRetryable(stage) ? stage : 'dismissed';
    for (const watch of this.#watches.values()) {
      if (watch.isScanned && mode === 'payment') watch.slowDown();
      else this.#unwatch(watch);
    }
    if (reason === 'declined' || this.#watches.size === 0) forgetPending(orderJson);
    const isPrevented = await this.#emit('cancel', { intent, reason });
    if (urls.cancel && !isPrevented) location.assign(returnUrl(urls.cancel, intent));
  }

  #endAttempt(): void {
    clearTimeout(this.#expiryTimer);
    this.#attempt?.abort();
    this.#stage = 'idle';
    this.#attempt = undefined;
    this.#shownId = undefined;
    this.#onSecretProvided = undefined;
    this.#idempotencyKey = undefined;
  }

  /** Removes the code from the page. The watch of its intent continues. */
  #clearCode(...shown: Parameters<IntentDialog['show']>): void {
    clearTimeout(this.#expiryTimer);
    this.#shownId = undefined;
    this.dialog.clearCode();
    this.#show(...shown);
  }

  #show(...shown: Parameters<IntentDialog['show']>): void {
    this.#stage = shown[0];
    this.dialog.show(...shown);
  }
}
