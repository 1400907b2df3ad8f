// Texts of the pages: amounts, times, keys, and the entries of a timeline.

/** An amount in its currency, in the reader's locale, never rounded. */
export function formatMoney(amount, currency) {
  const options = { style: 'currency', currency: currency.toUpperCase() };
  const { minimumFractionDigits } = new Intl.NumberFormat(undefined, options).resolvedOptions();
  const maximumFractionDigits = Math.max(2, minimumFractionDigits);
  return new Intl.NumberFormat(undefined, { ...options, minimumFractionDigits, maximumFractionDigits }).format(amount);
}

/** The terms of an intent in one line. */
export function titleOf({ kind, amount, currency, domain }) {
  if (kind === 'payment') return moneyOf(amount, currency);
  return kind === 'login' ? `Log in to ${domain}` : 'Unreadable request';
}

/** A refused request can have any text as its currency. */
function moneyOf(amount, currency) {
  try {
    return formatMoney(amount, currency);
  } catch {
    return `${amount} ${currency}`;
  }
}

const calls = {
  'Intents.createIntent': 'The site creates the intent',
  'MicroPayment.getStatus': 'The site polls the status',
  'MicroPayment.registerWebhook': 'The site registers its webhook',
  'Messaging.openMessageStream': 'The site opens the message stream',
  'Messaging.pollMessages': 'The messages are polled',
  'Messaging.ackMessages': 'The messages are acknowledged',
  'Identity.getLoginForThirdPartyApp': 'The site requests the user id',
  'Identity.loginToThirdPartyApp': 'The wallet logs in',
  'Emulator.submitPayment': 'The wallet pays',
};

const sent = {
  request_to_receive_bill: 'The site creates the intent',
  request_to_login: 'The site creates the intent',
  code_scanned: 'The wallet reports: scanned',
  client_rejected_payment: 'The wallet reports: payment declined',
  client_rejected_login: 'The wallet reports: login declined',
};

const vias = { proxy: 'HTTP', websocket: 'WebSocket', grpc: 'gRPC', 'in-process': 'in the process' };
const viaOf = (via) => vias[via] ?? via;

/** The texts of a timeline entry: `{ title, outcome, mood, notes }`; mood is good, bad or plain. */
export function describeEntry(entry) {
  return (descriptions[entry.kind] ?? unknownEntry)(entry);
}

const unknownEntry = ({ kind }) => ({ title: kind, mood: 'plain', notes: [] });

const descriptions = {
  call(entry) {
    const { operation, via, durationMs, request, answer } = entry;
    const sizes = answer ? `${bytes(request.size)} in, ${bytes(answer.size)} out` : `${bytes(request.size)} in`;
    return { title: callTitle(entry), ...outcomeOf(entry), notes: [operation, viaOf(via), took(durationMs), sizes] };
  },
  stream({ via, refusal }) {
    const outcome = refusal ? { outcome: refused(refusal), mood: 'bad' } : { outcome: 'open', mood: 'good' };
    return { title: calls['Messaging.openMessageStream'], ...outcome, notes: [viaOf(via)] };
  },
  delivery({ via, message }) {
    const kinds = (message.content?.messages ?? []).map(kindOf).join(', ');
    return { title: `Delivered: ${kinds || 'a message'}`, mood: 'plain', notes: [viaOf(via), bytes(message.size)] };
  },
  'stream-end': ({ via, reason }) => ({
    title: reason === 'complete' ? 'The stream is complete' : 'The reader disconnected',
    mood: 'plain',
    notes: [viaOf(via)],
  }),
  'key-file': ({ domain, address, problem, durationMs }) => ({
    title: `The key file of ${domain} is read`,
    outcome: problem ?? 'lists the verifier',
    mood: problem ? 'bad' : 'good',
    notes: [address, took(durationMs)],
  }),
  webhook: ({ url, status, problem, durationMs }) => ({
    title: 'The webhook of the site is called',
    outcome: problem ?? `answered with ${status}`,
    mood: status >= 200 && status < 300 ? 'good' : 'bad',
    notes: [url, took(durationMs)],
  }),
  fault: ({ operation, via, fault }) => ({
    title: `Injected fault: ${fault.kind}`,
    outcome: fault.when === 'after' ? 'after the operation' : 'before the operation, or instead of it',
    mood: 'bad',
    notes: [operation, viaOf(via)],
  }),
  reversed: () => ({ title: 'The payment is reversed', mood: 'bad', notes: [] }),
  restored: () => ({ title: 'Restored from the state file', mood: 'plain', notes: [] }),
};

function callTitle({ operation, request }) {
  if (operation !== 'Messaging.sendMessage') return calls[operation] ?? `A call of ${operation}`;
  return sent[kindOf(request.content?.message ?? {})] ?? 'A message is sent';
}

/** The kind of a message: its field other than the id and the signature. */
function kindOf(message) {
  return Object.keys(message).find((name) => !/^(id|send_message_request_signature)$/.test(name)) ?? '';
}

function outcomeOf({ refusal, answer }) {
  if (refusal) return { outcome: refused(refusal), mood: 'bad' };
  const result = answer?.content?.result;
  if (result !== undefined && result !== 'OK') return { outcome: result, mood: 'bad' };
  return { outcome: 'OK', mood: 'good' };
}

const refused = ({ code, message }) => (code ? `refused, ${code}: ${message}` : `refused: ${message}`);

const signers = {
  rendezvous: () => 'the key of its code',
  verifier: ({ domain }) => (domain ? `the verifier of ${domain}` : 'the verifier'),
  user: () => 'the user',
  payer: () => 'the paying account',
};

/** The text of a verified signature. */
export function describeSignature(signature) {
  const signer = signers[signature.signer](signature);
  if (signature.outcome === 'valid') return `Signed by ${signer}`;
  return signature.outcome === 'missing' ? `Not signed by ${signer}` : `The signature by ${signer} is not valid`;
}

const bytes = (count) => (count === 1 ? '1 byte' : `${count.toLocaleString('en')} bytes`);
const took = (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** The time since something happened. */
export function age(atMs, nowMs) {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** A time of day with milliseconds. */
export function clock(atMs) {
  const date = new Date(atMs);
  const part = (number, length = 2) => String(number).padStart(length, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((number) => part(number)).join(':');
  return `${time}.${part(date.getMilliseconds(), 3)}`;
}

/** A shortened key or id. */
export const short = (key) => (key.length > 16 ? `${key.slice(0, 6)}…${key.slice(-6)}` : key);
