import { amountIn, formatAmount } from './amount.js';
import { call } from './api.js';
import { type ClientSecret, parseClientSecret } from './client-secret.js';
import { fail } from './end.js';
import { expire, follow } from './follow.js';
import { type IntentFlow, isReason, show } from './intent-flow.js';
import { intentIdOf } from './intent-id.js';
import { loadTexts, localeOf } from './locale.js';
import { rememberPending } from './pending.js';
import { Problem, problemOf } from './problem.js';
import { qrCode } from './qr-code.js';
import { requireThat } from './require-that.js';
import { returnUrl, walletLink } from './return-url.js';
import type { Settings } from './settings.js';

// From the click to the code on the screen.

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
  const back = Object.entries(urls).map(([name, url]) => [name, url && returnUrl(url, id)]);
  flow.dialog.showCode(code, amount, walletUrl && walletLink(walletUrl, secret, Object.fromEntries(back)));
  show(flow, 'waiting');
  follow(flow, id);
}

function payloadOf(secret: string, mode: Settings['mode']): ClientSecret['payload'] {
  const { kind, payload } = parseClientSecret(secret);
  requireThat(kind === mode, 'client secret', mode);
  return payload;
}
