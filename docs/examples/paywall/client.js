// A client for pages behind requirePayment(). Copy this file: it needs Node 20 and no package.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** `code` is the site's (docs/errors.md), or `over_limit`, `not_payable`, `invalid_code`, `timeout`. */
export class PaywallError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Reads pages of one site, and pays for them. One page at a time, because the site recognizes a payer by the cookie of its
 * first payment.
 *
 * @param options.origin the origin of the site, such as `https://shop.example`
 * @param options.maxAmount the most that one `get` pays, such as `'1.00'`
 * @param options.currency the only currency that it pays, such as `'usd'`
 * @param options.pay `async ({ clientSecret, amount, currency, resource, signal })` pays the code with a wallet
 * @param options.state cookies and unfinished purchases, as JSON. To keep them, save this object in `pay` and after `get`
 * @param options.timeoutMs the limit of one `get` with its payment
 */
export function createPaywallClient({ origin, maxAmount, currency, pay, state = {}, timeoutMs = 60_000 }) {
  const maxCents = centsOf(maxAmount);
  if (!Object.hasOwn(currencyBytes, currency))
    throw new PaywallError('over_limit', `No byte is known for ${currency}.`);
  state.cookies ??= {};
  state.purchases ??= {};
  let turn = Promise.resolve();

  /** @returns the first response that is neither 402 nor temporary. @throws {PaywallError} and what `pay` throws */
  function get(path) {
    const result = turn.then(() => read(path, AbortSignal.timeout(timeoutMs)));
    turn = result.catch(() => undefined);
    return result;
  }

  async function read(path, signal) {
    let purchase;
    for (let tries = 0; ; tries += 1) {
      const response = await send(path, { signal });
      if (response.status !== 402) {
        if (response.ok) forget(path, purchase);
        return response;
      }
      const required = await response.json();
      const asked = JSON.stringify([required.resource, required.amount, required.currency]);
      purchase ??= asked;
      if (asked !== purchase) throw new PaywallError('over_limit', 'The site asks for a second payment for one page.');
      // After the payment the page can take a few seconds to open.
      if (state.purchases[purchase]?.isPaid) await pause(Math.min(200 * 2 ** tries, 5_000), signal);
      else await buy(required, path, purchase, signal);
    }
  }

  /** Deletes the purchases of a page that has opened. A later 402 starts a new one, for instance after a reversal. */
  function forget(path, purchase) {
    for (const [key, entry] of Object.entries(state.purchases))
      if (key === purchase || entry.path === path) delete state.purchases[key];
  }

  async function buy({ pay: route, resource, amount, currency: asked }, path, purchase, signal) {
    if (!route) throw new PaywallError('not_payable', 'The site does not say how to pay for this page.');
    if (amount !== undefined) checkPrice(centsOf(amount), asked);
    // With the same key the site answers with the same code, and a code can be paid only once.
    state.purchases[purchase] ??= { key: randomUUID(), path };
    const { url, ...body } = route;
    const { key } = state.purchases[purchase];
    const headers = { 'content-type': 'application/json', origin, 'idempotency-key': key };
    const response = await send(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
    const { client_secret: clientSecret, code, detail } = await response.json();
    if (response.status !== 201) throw new PaywallError(code, `The site refused the payment: ${detail}`);
    // The wallet pays what the code says, so the code is checked, and not only the announced price.
    const cents = priceIn(clientSecret, currency);
    checkPrice(cents, currency);
    // An earlier code of this purchase may be paid, even if `pay` failed.
    state.purchases[purchase].code ??= clientSecret;
    if (state.purchases[purchase].code !== clientSecret)
      throw new PaywallError('invalid_code', 'The site sent two codes for one purchase. Check what was paid.');
    const price = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
    await withSignal(signal, pay({ clientSecret, amount: price, currency, resource, signal }));
    state.purchases[purchase].isPaid = true;
  }

  function checkPrice(cents, asked) {
    if (asked === currency && cents <= maxCents) return;
    throw new PaywallError('over_limit', `The page costs more than ${maxAmount} ${currency}. Nothing was paid.`);
  }

  /** Repeats a request that fails for a moment. Each can be repeated: a GET, or a POST with its key. */
  async function send(path, { headers, signal, ...init }) {
    const url = new URL(path, origin);
    if (url.origin !== origin) throw new PaywallError('not_payable', `${url.origin} is not ${origin}.`);
    for (let tries = 0; ; tries += 1) {
      const cookie = Object.entries(state.cookies).map(([name, value]) => `${name}=${value}`);
      const all = {
        accept: 'application/json, */*',
        ...headers,
        ...(cookie.length > 0 && { cookie: cookie.join('; ') }),
      };
      const answer = fetch(url, { ...init, headers: all, redirect: 'manual', signal });
      const response = await answer.catch((error) => (signal.aborted ? Promise.reject(timeout(error)) : undefined));
      for (const line of response?.headers.getSetCookie() ?? []) remember(line);
      if (response && !(await isTemporary(response))) return response;
      const seconds = Number(response?.headers.get('retry-after'));
      await pause(seconds > 0 ? seconds * 1_000 : Math.min(200 * 2 ** tries, 5_000), signal);
    }
  }

  function remember(line) {
    const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined) return;
    state.cookies[name] = value;
    if (/; *max-age=0\b/i.test(line)) delete state.cookies[name];
  }

  return { get, state };
}

/** Whether to repeat the request later. `payment_pending`: the payment has arrived, and the site is processing it. */
async function isTemporary(response) {
  if (response.status !== 409) return [429, 502, 503, 504].includes(response.status);
  const problem = await response.clone().text();
  return problem.includes('"code":"payment_pending"');
}

const timeout = (cause) =>
  new PaywallError('timeout', 'The page did not open in time. Another get() continues the same purchase.', { cause });

const pause = (ms, signal) => withSignal(signal, delay(ms, undefined, { signal }));

/** Waits for work until the signal aborts. */
async function withSignal(signal, work) {
  const aborted = new Promise((_resolve, reject) => {
    if (signal.aborted) return reject(timeout(signal.reason));
    signal.addEventListener('abort', () => reject(timeout(signal.reason)));
  });
  await Promise.race([aborted, work]);
}

/** A decimal with at most two decimal places, in hundredths. */
function centsOf(amount) {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  if (whole === undefined) throw new PaywallError('over_limit', `${amount} is not an amount such as 1.00.`);
  return BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0'));
}

/** The second byte of a code. docs/protocol.md lists all currencies. */
const currencyBytes = { usd: 140, eur: 43, gbp: 46 };

/** The price in a code, in hundredths: 20 bytes in Base58 (docs/protocol.md, section 2). */
function priceIn(code, currency) {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  let number = 0n;
  for (const character of code) number = number * 58n + BigInt(alphabet.indexOf(character));
  const bytes = Buffer.from(number.toString(16).padStart(40, '0'), 'hex');
  const isPayment = /^[1-9A-HJ-NP-Za-km-z]+$/.test(code) && bytes.length === 20 && bytes[0] === 2;
  if (!isPayment) throw new PaywallError('invalid_code', 'The site sent a code that is not a payment.');
  if (bytes[1] !== currencyBytes[currency]) {
    throw new PaywallError('over_limit', `The code is not in ${currency}. Nothing was paid.`);
  }
  // Seven bytes, little endian.
  return BigInt(`0x${bytes.subarray(2, 9).reverse().toString('hex')}`);
}
