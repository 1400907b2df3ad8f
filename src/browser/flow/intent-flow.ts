import { NativePromise } from '../built-ins.js';
import { type DialogState, isRetryable, type StateDetails } from '../dialog/dialog-state.js';
import type { Emit, User } from '../events.js';
import type { Settings } from '../options.js';
import { tryOrUndefined } from '../validation.js';
import { isFinalRefusal, isServiceRefusal, Problem, toProblem } from './api.js';
import { type ButtonHost, ButtonView } from './button-view.js';
import { decodeClientSecret, deriveIntentId } from './client-secret.js';
import { finishLogin, requireLoginCookie } from './finish-login.js';
import { loadPublicKeyOf } from './on-demand-files.js';
import { forgetPending, recallPending, rememberPending } from './pending-intents.js';
import { delay } from './retry.js';
import { leaveTo, returnUrl } from './return-url.js';
import { type ObtainedSecret, SecretSource, secretOfPage } from './secret-source.js';
import { Watch, type WatchSignal } from './watch.js';
import { WatchList } from './watch-list.js';

/** How long success is shown before the redirect. */
const lingerMs = 1_200;

/**
 * One payment or login of a button, from the click to its end.
 *
 * States:
 * - idle: no dialog. A click starts an attempt and loads the dialog.
 * - preparing: the site creates the intent, or a handler of `invoke` provides its client secret.
 * - waiting, scanned: the code is on the screen. A scan leads from waiting to scanned.
 * - offline, silent: the site does not respond, or its call to the sequencer fails. The creation is retried, the watch continues.
 * - declined, expired, problem: the code is gone. A retry starts the next attempt. An expired payment is checked first.
 * - completing: the intent was submitted and the login is being completed. Closing the dialog does not stop it.
 * - done: success. Leads to the redirect or to idle.
 * Each, except completing, leads to idle when the element leaves the page or the visitor closes the dialog.
 *
 * A payment that was scanned, or whose polls fail, can be submitted after the dialog is closed. Its watch continues until
 * an hour after the code expires, also if the element leaves the page, unless another button of the order takes over.
 * Unless it was declined, `pending-intents.ts` keeps its id for the next visit, and the next click offers it again: in waiting or
 * scanned with its code, or in expired if this page cannot show the code.
 */
export class IntentFlow {
  readonly #view: ButtonView;
  readonly #resolveSettings: () => Settings;
  readonly #emit: Emit;
  readonly #watches: WatchList;
  #settings = {} as Settings;
  #state: DialogState | 'idle' = 'idle';
  #attempt: AbortController | undefined;
  readonly #secrets = new SecretSource();
  #latestId: string | undefined;
  /** Whether this page has shown or restored a code, which may be paid even if its watch has ended. */
  #wasCodeShown = false;
  /** The intent whose login is being completed. */
  #completingId: string | undefined;
  /** The newest client secret of the attempt, whose code is on the screen or about to be. */
  #newestSecret: string | undefined;
  /** The intent whose code is on the screen. */
  #shownId: string | undefined;
  #expiryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: ButtonHost, resolveSettings: () => Settings, emit: Emit) {
    this.#resolveSettings = resolveSettings;
    this.#emit = emit;
    this.#view = new ButtonView(host, {
      closed: () => void this.#onClosed(),
      retry: () => this.#retry(),
      check: () => void this.#check(),
    });
    this.#watches = new WatchList(host.element, (id) => this.#handOver(id));
  }

  /** Opens the dialog and creates an intent, unless an attempt is active. A payment that is still open is offered first, but not for a retry. */
  async start(isRetry?: boolean): Promise<void> {
    if (this.#attempt) {
      // A login can be in progress without a dialog: it was closed, or the page was reloaded.
      if (this.#state === 'completing') await this.#open().catch(() => this.#view.noteFailure(this.#settings));
      return;
    }
    this.#settings = this.#resolveSettings();
    this.#attempt = new AbortController();
    const { signal } = this.#attempt;
    this.#latestId = undefined;
    this.#state = 'preparing';
    const payable = !isRetry && this.#findPayable();
    // The intent does not wait for the file of the dialog.
    const obtaining = payable ? undefined : this.#obtainSecret(signal);
    obtaining?.catch(() => undefined);
    try {
      await this.#open();
    } catch (error) {
      if (signal.aborted) return;
      this.#endAttempt();
      this.#view.noteFailure(this.#settings);
      void this.#emit('error', { error: toProblem(error) });
      // The page's own fault must not look like one of the network.
      obtaining?.catch((problem) => problem.code === 'handler_failed' && this.#emit('error', { error: problem }));
    }
    if (signal.aborted) return;
    try {
      if (payable) {
        const { id, code, isFromPage } = payable;
        this.#latestId = id;
        if (!code || Date.now() >= code.expiresAtMs) return this.#expire();
        return await this.#showCode({ ...code, isFromPage, obtainedAtMs: 0 }, signal, code.expiresAtMs);
      }
      const obtained = await (obtaining as Promise<ObtainedSecret>);
      // The page may have replaced the secret while the dialog was loaded.
      if (!signal.aborted) await this.#showCode(this.#secrets.takeProvided() ?? obtained, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(toProblem(error));
    }
  }

  async #obtainSecret(signal: AbortSignal): Promise<ObtainedSecret> {
    if (!isSecureContext) throw new Problem('insecure_page', 426);
    // Before the intent is created, because its code cannot be shown without this function.
    await loadPublicKeyOf(signal);
    signal.throwIfAborted();
    return this.#secrets.obtain(this.#settings, signal, this.#emit, (state) => this.#show(state));
  }

  /** Sets the client secret for the current attempt, or for the next one. */
  provideSecret(clientSecret: string): void {
    const attempt = this.#attempt;
    if (!attempt || !this.#newestSecret) {
      this.#secrets.provide(clientSecret);
      return;
    }
    this.#showCode(secretOfPage(clientSecret), attempt.signal).catch((error) => {
      if (this.#attempt === attempt) this.#fail(toProblem(error));
    });
  }

  /** Watches the intent of the order that was pending before a reload, or in a tab that was closed. */
  restore(): void {
    if (this.#attempt) return;
    this.#settings = this.#resolveSettings();
    this.#notePayable();
    const pending = recallPending(this.#settings.orderKey);
    if (pending && this.#watches.canRestore(pending.id)) void this.#watch(pending.id, pending.isFromPage, true).poll();
  }

  /** The language around the button can have changed. */
  translate(): void {
    void this.#view.translate(this.#settings);
  }

  /** The element is back in the page, which has moved it. */
  reopen(): void {
    this.#view.dialog?.reopen();
  }

  /** The element has left the page. Pending intents are restored when it returns. */
  leave(): void {
    const isAsking = this.#view.dialog?.element.dataset.state === 'awaitingConfirmation';
    this.#view.dialog?.close();
    if (this.#completingId && isAsking) this.#handOver(this.#completingId);
    if (this.#state === 'completing') return;
    this.#endAttempt();
    this.#watches.endUnscanned();
  }

  /** Leaves an intent to another button of its order. */
  #handOver(id: string): void {
    if (this.#completingId === id) this.#endAttempt();
    this.#watches.release(id);
    this.#notePayable();
  }

  /** The previous intent is still watched. */
  #retry(): void {
    if (!isRetryable(this.#state)) return;
    this.#attempt = undefined;
    // A payment that arrives late is still a payment. A login that is confirmed late must not replace the next code.
    if (this.#settings.mode === 'login') this.#watches.endAll();
    this.#watches.slowDown();
    void this.start(true);
  }

  // ---- From the click to the code ----

  /** Loads and opens the dialog, unless the attempt ends meanwhile. @throws {Problem} if it cannot be loaded */
  async #open(): Promise<void> {
    const attempt = this.#attempt as AbortController;
    if (this.#view.isOpen) this.#show(this.#state as DialogState);
    if (!(await this.#view.open(this.#settings, attempt.signal, () => this.#attempt === attempt))) return;
    if (this.#state === 'completing') this.#view.dialog?.clearCode();
    this.#show(this.#state as DialogState);
  }

  /** The open payment of the order, also if another button has shown its code: no second code is offered. */
  #findPayable(): Watch | undefined {
    const { orderKey } = this.#settings;
    const own = this.#watches.findPayable(orderKey);
    const other = own ?? this.#watches.takePayable(orderKey);
    if (own || !other) return own;
    const taken = this.#watch(other.id, other.isFromPage);
    taken.isScanned = other.isScanned;
    taken.code = other.code;
    return taken;
  }

  /** Says below the button that the payment of the order can still be confirmed, unless the dialog is in use. */
  #notePayable(): void {
    const settings = this.#settings;
    const isPayable = (): boolean =>
      !this.#attempt && settings === this.#settings && !!this.#watches.findPayable(settings.orderKey);
    if (!this.#attempt) void this.#view.notePayable(settings, isPayable);
  }

  async #showCode(obtained: ObtainedSecret, signal: AbortSignal, reopenedUntilMs?: number): Promise<void> {
    const { secret, isFromPage, obtainedAtMs } = obtained;
    const expiresAtMs = reopenedUntilMs ?? obtainedAtMs + this.#settings.expiresInMs;
    this.#newestSecret = secret;
    const { orderKey, mode, completesLogin, routes } = this.#settings;
    const payload = decodeClientSecret(secret, mode);
    const id = await deriveIntentId(payload, await loadPublicKeyOf(signal));
    if (completesLogin && !isFromPage && !reopenedUntilMs) await requireLoginCookie(id, routes.session, signal);
    if (signal.aborted || this.#newestSecret !== secret) return;
    this.#secrets.discard();
    this.#view.showCode(this.#settings, { secret, payload, id, expiresAtMs });
    rememberPending(orderKey, { id, isFromPage });
    clearTimeout(this.#expiryTimer);
    this.#expiryTimer = setTimeout(() => this.#expire(), expiresAtMs - Date.now());
    this.#latestId = id;
    this.#shownId = id;
    if (mode === 'login') this.#watches.endAll();
    const watch = this.#watch(id, isFromPage);
    watch.code = { secret, expiresAtMs };
    watch.speedUp();
    this.#show(watch.isScanned ? 'scanned' : 'waiting');
  }

  // ---- While the intent is watched ----

  #watch(id: string, isFromPage: boolean, isRestored = false): Watch {
    const known = this.#watches.get(id);
    if (known) return known;
    const watch = new Watch(
      id,
      this.#settings,
      (signal) => this.#onSignal(watch, signal, isRestored),
      (description) => id === this.#shownId && this.#view.dialog?.showItem(description),
    );
    watch.isFromPage = isFromPage;
    this.#watches.add(watch);
    this.#wasCodeShown = true;
    return watch;
  }

  #onSignal(watch: Watch, signal: WatchSignal, isRestored: boolean): void {
    const { id } = watch;
    if (signal === 'ended') {
      // "Check again" still polls.
      watch.stop();
      if (!this.#attempt) this.#watches.release(id);
      this.#notePayable();
    }
    if (signal === 'submitted') {
      void this.#succeed(watch);
      return;
    }
    if (signal === 'unknown' && isRestored) {
      forgetPending(watch.settings.orderKey, id);
      this.#watches.release(id);
    }
    if ((signal === 'scanned' || signal === 'declined') && !watch.isScanned) {
      watch.isScanned = true;
      this.#notePayable();
      void this.#emit('scanned', { intent: id });
    }
    if (signal === 'declined') watch.isDeclined = true;
    if (id !== this.#shownId) return;
    if (watch.code && Date.now() >= watch.code.expiresAtMs) this.#expire();
    else if (signal === 'declined') this.#clearCode(signal);
    else if (signal === 'offline' || signal === 'silent') this.#show(signal);
    else this.#show(watch.isScanned ? 'scanned' : 'waiting');
  }

  #expire(): void {
    this.#watches.slowDown();
    this.#clearCode('expired');
    if (this.#settings.mode === 'payment') void this.#check();
  }

  /** A payment for the expired code may have arrived. Paying again is offered only after the site has answered. */
  async #check(): Promise<void> {
    const attempt = this.#attempt;
    this.#show('expired');
    const isChecked = await this.#watches.poll();
    if (this.#attempt !== attempt || this.#state !== 'expired') return;
    this.#show('expired', { check: isChecked ? 'unpaid' : 'failed' });
  }

  // ---- Completion ----

  /** The intent was submitted: completes the login, emits `success` and redirects. */
  async #succeed(watch: Watch): Promise<void> {
    const { settings, id, isFromPage } = watch;
    const { orderKey, mode, urls } = settings;
    const completesLogin = settings.completesLogin && !isFromPage;
    const shown = this.#attempt ? this.#settings : tryOrUndefined(() => this.#resolveSettings());
    // The button or its dialog now shows another order, or an invalid one. A result, a login or a redirect would replace it.
    if (orderKey !== shown?.orderKey && (this.#attempt || !completesLogin)) {
      this.#watches.release(id);
      forgetPending(orderKey, id);
      // A login that is not completed emits no `success`.
      if (mode === 'payment' || isFromPage) void this.#emit('success', { intent: id });
      this.#notePayable();
      return;
    }
    this.#completingId = id;
    this.#watches.endOrder(watch);
    this.#settings = settings;
    // The site may be creating another intent. Its code must not replace this result.
    this.#attempt?.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    let user: User | undefined;
    if (completesLogin) {
      this.#clearCode('completing');
      try {
        const onRetry = (problem: Problem): void => this.#show('completing', { problem });
        const { session } = settings.routes;
        user = await finishLogin(id, session, attempt.signal, onRetry, (userId) => this.#askUser(userId));
        if (attempt.signal.aborted) return;
      } catch (error) {
        if (attempt.signal.aborted) return;
        if (mode === 'login') return this.#failLogin(toProblem(error));
        void this.#emit('error', { error: toProblem(error) });
      }
    }
    this.#completingId = undefined;
    this.#watches.release(id);
    // The visitor declined and closed the dialog.
    if (mode === 'login' && completesLogin && !user) {
      this.#state = 'waiting';
      return this.#onClosed();
    }
    forgetPending(orderKey);
    // The handlers of the page complete its own login.
    this.#clearCode(mode === 'login' && isFromPage ? 'completing' : 'done');
    const [isPrevented] = await NativePromise.all([this.#emit('success', { intent: id, user }), delay(lingerMs)]);
    const finish = (): void => {
      if (this.#attempt !== attempt) return;
      this.#endAttempt();
      this.#view.dialog?.close();
    };
    if (!urls.success || isPrevented) return finish();
    leaveTo(returnUrl(urls.success, id), finish);
  }

  /** Asks the visitor to confirm the user. Opens the dialog if it is closed. */
  async #askUser(userId: string): Promise<boolean> {
    // The next button of the order asks.
    if (!this.#view.host.element.isConnected && this.#completingId) this.#handOver(this.#completingId);
    else await this.#open();
    return this.#view.dialog?.confirmUser(userId) ?? false;
  }

  /** A login restored after a reload may be complete already. Without a dialog this is not reported. */
  #failLogin(problem: Problem): void {
    if (this.#completingId) this.#watches.release(this.#completingId);
    this.#completingId = undefined;
    forgetPending(this.#settings.orderKey);
    const { isOpen } = this.#view;
    if (isOpen || problem.code !== 'intent_not_found') this.#fail(problem);
    if (!isOpen) this.#endAttempt();
  }

  #fail(problem: Problem): void {
    const isUnpaid = this.#settings.mode === 'payment' && !this.#wasCodeShown;
    const isFinal = (isFinalRefusal(problem) && problem.code !== 'intent_not_found') || isServiceRefusal(problem);
    this.#clearCode('problem', { problem, isUnpaid, isFinal });
    void this.#emit('error', { error: problem });
  }

  /** The visitor closed the dialog. A scanned payment can still be submitted, so its watch continues. */
  async #onClosed(): Promise<void> {
    const state = this.#state;
    const intent = this.#latestId;
    if (state === 'completing') return this.#view.show(this.#settings, state);
    this.#endAttempt();
    if (state === 'done' || state === 'idle') return;
    const { orderKey, urls } = this.#settings;
    const reason = isRetryable(state) ? state : 'dismissed';
    this.#watches.endUnscanned();
    if (reason === 'declined' || !this.#watches.findPayable(orderKey)) forgetPending(orderKey);
    this.#notePayable();
    const isPrevented = await this.#emit('cancel', { intent, reason });
    if (urls.cancel && !isPrevented) location.assign(returnUrl(urls.cancel, intent));
  }

  #endAttempt(): void {
    clearTimeout(this.#expiryTimer);
    this.#attempt?.abort();
    this.#state = 'idle';
    this.#attempt = undefined;
    this.#newestSecret = undefined;
    this.#shownId = undefined;
    this.#completingId = undefined;
    this.#secrets.reset();
    this.#view.host.showNote('');
  }

  /** Removes the code from the page. The watch of its intent continues. */
  #clearCode(state: DialogState, details?: StateDetails): void {
    clearTimeout(this.#expiryTimer);
    this.#newestSecret = undefined;
    this.#shownId = undefined;
    this.#view.dialog?.clearCode();
    this.#show(state, details);
  }

  #show(state: DialogState, details?: StateDetails): void {
    this.#state = state;
    this.#view.show(this.#settings, state, details);
  }
}
