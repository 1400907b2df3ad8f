import { amountIn, formatAmount } from './amount.js';
import { askForIntent } from './ask-for-intent.js';
import { parseClientSecret } from './client-secret.js';
import { fail } from './end.js';
import { expire, follow } from './follow.js';
import type { State } from './intent-dialog.js';
import { type IntentFlow, isReason, show } from './intent-flow.js';
import { intentIdOf } from './intent-id.js';
import { loadTexts, localeOf } from './locale.js';
import { rememberPending } from './pending.js';
import { Problem, problemOf } from './problem.js';
import { qrCode } from './qr-code.js';
import { walletLink } from './return-url.js';

// From the click to the code on the screen.

/** Opens the dialog and creates an intent. While one is under way no other is begun. */
export async function begin(flow: IntentFlow): Promise<void> {
  if (flow.attempt) {
    // It may go on behind a dialog that was closed, or since before a reload.
    if (flow.stage === 'confirming') await open(flow);
    return;
  }
  const attempt = new AbortController();
  const { signal } = attempt;
  flow.settings = flow.read();
  flow.attempt = attempt;
  flow.latestId = undefined;
  flow.stage = 'preparing';
  await open(flow);
  if (signal.aborted) return;
  try {
    if (!isSecureContext) throw new Problem('insecure_page', 426);
    const secret = await obtain(flow, signal);
    if (!signal.aborted) await present(flow, secret, signal);
  } catch (error) {
    if (!signal.aborted) fail(flow, problemOf(error));
  }
}

/** A new intent in place of one that came to nothing; the old one is still watched. */
export function retry(flow: IntentFlow): void {
  if (!isReason(flow.stage)) return;
  flow.attempt = undefined;
  for (const watch of flow.watches.values()) watch.rest();
  void begin(flow);
}

/** Takes a client secret for the intent that is being begun, or the next one. @throws {TypeError} */
export function give(flow: IntentFlow, clientSecret: string): void {
  parseClientSecret(clientSecret, flow.read().mode);
  if (flow.shownId && flow.attempt) {
    void present(flow, clientSecret, flow.attempt.signal);
    return;
  }
  flow.given = clientSecret;
  flow.onGiven?.();
}

/** Opens the dialog on what is going on, unless that is over once the texts for it are there. */
export async function open(flow: IntentFlow): Promise<void> {
  const { attempt, settings, stage } = flow;
  await loadTexts(settings.locale);
  if (flow.attempt !== attempt || flow.stage !== stage) return;
  flow.dialog.open(localeOf(settings.locale), settings);
  if (stage === 'confirming') flow.dialog.clearCode();
  show(flow, stage as State);
}

async function obtain(flow: IntentFlow, signal: AbortSignal): Promise<string> {
  const { mode, order, locale } = flow.settings;
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
  const answer = askForIntent(flow, signal);
  // The first amount a page formats takes tens of milliseconds. They pass here, while the server is asked.
  formatAmount('1.00', 'usd', locale);
  return answer;
}

async function present(flow: IntentFlow, secret: string, signal: AbortSignal): Promise<void> {
  const { mode, walletUrl, expiresInMs, what, urls } = flow.settings;
  flow.key = undefined;
  const payload = parseClientSecret(secret, mode);
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
  flow.dialog.showCode(code, amount, walletUrl && walletLink(walletUrl, secret, urls, id));
  show(flow, 'waiting');
  follow(flow, id);
}
