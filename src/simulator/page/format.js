/** An amount in its currency, in the reader's locale, never rounded. */
export function formatMoney(amount, currency) {
  const options = { style: 'currency', currency: currency.toUpperCase() };
  const { minimumFractionDigits } = new Intl.NumberFormat(undefined, options).resolvedOptions();
  const maximumFractionDigits = Math.max(2, minimumFractionDigits);
  return new Intl.NumberFormat(undefined, { ...options, minimumFractionDigits, maximumFractionDigits }).format(amount);
}

/** The terms of an intent in one line. A refused request can have any text as its currency. */
export function formatTerms({ kind, amount, currency, domain }) {
  if (kind === 'login') return `Log in to ${domain}`;
  if (kind !== 'payment') return 'Unreadable request';
  try {
    return formatMoney(amount, currency);
  } catch {
    return `${amount} ${currency}`;
  }
}

export function formatDate(atMs) {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });
}

export function formatTime(atMs) {
  const date = new Date(atMs);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0'));
  return `${time.join(':')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

export const shorten = (key) => (key.length > 16 ? `${key.slice(0, 6)}…${key.slice(-6)}` : key);
