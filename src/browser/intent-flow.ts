import { call } from './api.js';
import { type ClientSecret, parseClientSecret } from './client-secret.js';
import { completeLogin, type User } from './complete-login.js';
import type { Emit } from './events.js';
import type { IntentDialog, State } from './intent-dialog.js';
import { intentIdOf } from './intent-id.js';
import { loadTexts, localeOf } from './locale.js';
import { forgetPending, recallPending, rememberPending } from './pending.js';
import { Problem, problemOf } from './problem.js';
import { problemText } from './problem-text.js';
import { returnUrl, walletLink } from './return-url.js';
import type { Settings } from './settings.js';
import { type Sign, Watch } from './watch.js';

/** How long "paid" stays on the screen before the page goes on, in milliseconds. */
const lingerMs = 1_200;

/** Takes a payment or a login from the click to its end, and still hears of one that ends after its dialog was closed. */
export class IntentFlow {
  readonly #dialog: IntentDialog;
  readonly #read: () => Settings;
  readonly #emit: Emit;
  /** Every intent that may still be confirmed; more than one after a second try. */
  readonly #watches = new Map<string, Watch>();
  #settings!: Settings;
  #locale = localeOf('en');
  #state: State | 'idle' = 'idle';
  /** Of the dialog that is open, from its opening to its end. */
  #attempt: AbortController | undefined;
  #given: string | undefined;
  #onGiven: (() => void) | undefined;
  #latestId: string | undefined;
  /** The intent whose code is on the screen. */
  #shownId: string | undefined;
  #endsAtMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(dialog: IntentDialog, read: () => Settings, emit: Emit) {
    this.#dialog = dialog;
    this.#read = read;
    this.#emit = emit;
  }

  /** Somebody is about to click. */
  prepare(): void {
    loadScannable().catch(() => undefined);
  }

  /** Looks after what was begun before a reload. */
  restore(): void {
    this.#settings = this.#read();
    const id = recallPending(this.#settings.what);
    if (id) this.#watch(id, true).ask();
  }

  /** Opens the dialog and creates an intent; does nothing while one is under way. */
  async begin(): Promise<void> {
    if (this.#attempt) return;
    const settings = this.#read();
    const attempt = new AbortController();
    this.#settings = settings;
    this.#attempt = attempt;
    this.#latestId = undefined;
    await loadTexts(settings.locale);
    if (attempt.signal.aborted) return;
    this.#locale = localeOf(settings.locale);
    this.#dialog.open(this.#locale, { hasLink: !!settings.walletUrl, hasAmount: settings.mode === 'payment' });
    this.#dialog.setHeading({ title: this.#locale.texts[settings.mode], payee: settings.payee });
    this.#show('preparing');
    try {
      if (!isSecureContext) throw new Problem('insecure_page');
      this.prepare();
      const secret = await this.#obtain(attempt.signal);
      if (!attempt.signal.aborted) await this.#present(secret, attempt.signal);
    } catch (error) {
      if (!attempt.signal.aborted) this.#fail(problemOf(error));
    }
  }

  /** A new intent in place of one that came to nothing; the old one is still watched. */
  retry(): void {
    if (!['rejected', 'expired', 'problem'].includes(this.#state)) return;
    // At once, so that a second click finds nothing to try again.
    this.#state = 'preparing';
    this.#attempt = undefined;
    void this.begin();
  }

  /** Takes a client secret for the intent that is being begun, or the next one. @throws {TypeError} */
  give(clientSecret: string): void {
    this.#requireKind(parseClientSecret(clientSecret), this.#read().mode);
    if (this.#shownId && this.#attempt) {
      void this.#present(clientSecret, this.#attempt.signal);
      return;
    }
    this.#given = clientSecret;
    this.#onGiven?.();
  }

  /** The person has closed the dialog. What the wallet has scanned may still be confirmed, so it is still watched. */
  async closed(): Promise<void> {
    clearTimeout(this.#timer);
    // What was confirmed goes on to its end.
    if (this.#state === 'done') this.#endAttempt();
    if (this.#state === 'confirming' || this.#state === 'idle') return;
    const { cancelUrl, what } = this.#settings;
    const reason = isReason(this.#state) ? this.#state : 'dismissed';
    const intent = this.#latestId;
    this.#endAttempt();
    for (const watch of this.#watches.values()) {
      if (watch.scanned) watch.calm = true;
      else this.#unwatch(watch);
    }
    if (reason === 'rejected' || this.#watches.size === 0) forgetPending(what);
    const isStopped = await this.#emit('cancel', { intent, reason });
    if (cancelUrl && !isStopped) location.assign(returnUrl(cancelUrl, intent ?? '', location.href));
  }

  /** Ends everything that goes on, as when the element leaves the page. What is pending is looked after when it comes back. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#endAttempt();
    for (const watch of this.#watches.values()) this.#unwatch(watch);
    this.#dialog.close();
  }

  /** The page was left after the end, and has come back as it was. */
  resume(): void {
    if (this.#state === 'done') this.#finish();
  }

  async #obtain(signal: AbortSignal): Promise<string> {
    const { mode, order, amount, routes } = this.#settings;
    const isReplaced = await this.#emit('invoke', { mode, order });
    if (isReplaced && !this.#given) await this.#untilGiven(signal);
    const secret = this.#given ?? (await create(routes.intent, { mode, order, amount }, signal));
    this.#given = undefined;
    return secret;
  }

  #untilGiven(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onGiven = resolve;
      signal.addEventListener('abort', reject);
    });
  }

  async #present(secret: string, signal: AbortSignal): Promise<void> {
    const { mode, payee, walletUrl, expiresInMs, what } = this.#settings;
    const { tag, texts } = this.#locale;
    const parsed = parseClientSecret(secret);
    this.#requireKind(parsed, mode);
    const [id, { amountIn, qrCode }] = await Promise.all([intentIdOf(parsed.payload), loadScannable()]);
    if (signal.aborted) return;
    const amount = mode === 'payment' ? amountIn(parsed.payload, tag) : '';
    this.#dialog.setHeading({ title: texts[mode], amount, payee });
    rememberPending(what, id);
    this.#latestId = id;
    this.#shownId = id;
    this.#endsAtMs = Date.now() + expiresInMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), expiresInMs);
    // Whoever scans does so with another device, which has no business on the pages of this one.
    const code = qrCode(walletUrl ? walletLink(walletUrl, secret) : secret);
    this.#dialog.showCode(code, walletUrl && walletLink(walletUrl, secret, this.#returnUrls(id)));
    this.#show('waiting');
    this.#watch(id);
  }

  #returnUrls(id: string): Record<string, string> {
    const { successUrl: success, cancelUrl: cancel } = this.#settings;
    const given = Object.entries({ success, cancel }).filter(([, url]) => url) as [string, string][];
    return Object.fromEntries(given.map(([name, url]) => [name, returnUrl(url, id, location.href)]));
  }

  #requireKind({ kind }: ClientSecret, mode: Settings['mode']): void {
    if (kind !== mode) throw new TypeError(`This client secret is of a ${kind}, and the button is for a ${mode}.`);
  }

  #watch(id: string, isRestored = false): Watch {
    const known = this.#watches.get(id);
    if (known) return known;
    const watch = new Watch(id, this.#settings.routes, (sign) => this.#hear(watch, sign, isRestored));
    this.#watches.set(id, watch);
    return watch;
  }

  #unwatch(watch: Watch): void {
    watch.stop();
    this.#watches.delete(watch.id);
  }

  #hear(watch: Watch, sign: Sign, isRestored: boolean): void {
    if (sign === 'submitted') void this.#succeed(watch.id);
    if (sign === 'unknown' && isRestored) {
      const { what } = this.#settings;
      if (recallPending(what) === watch.id) forgetPending(what);
      this.#unwatch(watch);
    }
    if ((sign === 'scanned' || sign === 'rejected') && !watch.scanned) {
      watch.scanned = true;
      void this.#emit('scanned', { intent: watch.id });
    }
    if (watch.id !== this.#shownId || sign === 'submitted') return;
    if (Date.now() >= this.#endsAtMs) this.#expire();
    else if (sign === 'rejected') this.#putAway('rejected');
    else this.#show(sign === 'silent' ? 'offline' : watch.scanned ? 'scanned' : 'waiting');
  }

  #expire(): void {
    const { expired, noticed } = this.#locale.texts;
    for (const watch of this.#watches.values()) watch.calm = true;
    this.#putAway('expired', this.#settings.mode === 'payment' ? `${expired} ${noticed}` : expired);
  }

  /** Takes the code off the page; what it stood for is still watched. */
  #putAway(state: State, text?: string): void {
    clearTimeout(this.#timer);
    this.#shownId = undefined;
    this.#dialog.clearCode();
    this.#show(state, text);
  }

  async #succeed(id: string): Promise<void> {
    const { completesLogin, mode, routes, successUrl, what } = this.#settings;
    for (const watch of this.#watches.values()) this.#unwatch(watch);
    const attempt = this.#attempt ?? new AbortController();
    this.#attempt = attempt;
    let user: User | undefined;
    if (completesLogin) {
      this.#putAway('confirming');
      try {
        user = await completeLogin(routes.session, id, attempt.signal);
      } catch (error) {
        if (attempt.signal.aborted) return;
        if (mode === 'login') return this.#failLogin(problemOf(error));
        void this.#emit('error', { error: problemOf(error) });
      }
    }
    forgetPending(what);
    this.#putAway('done', this.#locale.texts[mode === 'login' ? 'loggedIn' : 'paid']);
    const success = this.#emit('success', user ? { intent: id, user } : { intent: id });
    const [isStopped] = await Promise.all([success, new Promise((resolve) => setTimeout(resolve, lingerMs))]);
    if (successUrl && !isStopped) location.assign(returnUrl(successUrl, id, location.href));
    else if (this.#attempt === attempt) this.#finish();
  }

  /** One that was begun before a reload may have been completed then; nobody waits to be told. */
  #failLogin(problem: Problem): void {
    forgetPending(this.#settings.what);
    const isSeen = this.#dialog.element.open;
    if (isSeen) this.#fail(problem);
    else this.#endAttempt();
    if (!isSeen && problem.code !== 'intent_not_found') void this.#emit('error', { error: problem });
  }

  #fail(problem: Problem): void {
    const { texts } = this.#locale;
    const sentence = problemText(problem, texts);
    // Said only where it is certain: no code was shown that a wallet could have paid.
    const isUnpaid = this.#settings.mode === 'payment' && this.#watches.size === 0;
    this.#putAway('problem', isUnpaid ? `${sentence} ${texts.unpaid}` : sentence);
    void this.#emit('error', { error: problem });
  }

  #show(state: State, text?: string): void {
    this.#state = state;
    this.#dialog.show(state, text);
  }

  #finish(): void {
    this.#endAttempt();
    this.#dialog.close();
  }

  #endAttempt(): void {
    this.#attempt?.abort();
    this.#attempt = undefined;
    this.#shownId = undefined;
    this.#onGiven = undefined;
    this.#state = 'idle';
  }
}

const isReason = (state: string): state is 'rejected' | 'expired' | 'problem' =>
  ['rejected', 'expired', 'problem'].includes(state);

/** Loaded at the latest while the server is asked, so that nobody waits for it, and only by who is about to pay. */
const loadScannable = () =>
  import('./scannable.js').catch(() => {
    throw new Problem('offline');
  });

/** `POST /intent`: the price is the server's business, so this says what is bought and nothing else. */
async function create(path: string | false, body: object, signal: AbortSignal): Promise<string> {
  const answer = await call<{ client_secret: string }>('POST', path, body, signal);
  return answer.client_secret;
}
