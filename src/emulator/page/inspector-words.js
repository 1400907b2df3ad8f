import { formatMoney } from './view.js';

/** How far an intent has come, in a word. */
export const states = {
  created: 'waiting',
  scanned: 'scanned',
  rejected: 'declined',
  submitted: 'submitted',
  reversed: 'reversed',
  refused: 'refused',
  forgotten: 'forgotten',
};

/** What an intent is for. */
export function titleOf({ kind, amount, currency, domain }) {
  if (kind === 'payment') return moneyOf(amount, currency);
  return kind === 'login' ? `Log in to ${domain}` : 'Something unreadable';
}

/** What was refused may name any currency. */
function moneyOf(amount, currency) {
  try {
    return formatMoney(amount, currency);
  } catch {
    return `${amount} ${currency}`;
  }
}

const calls = {
  'Intents.createIntent': 'The site creates the intent',
  'MicroPayment.getStatus': 'The site asks for the status',
  'MicroPayment.registerWebhook': 'The site registers its webhook',
  'Messaging.openMessageStream': 'The site opens the message stream',
  'Messaging.pollMessages': 'The messages are fetched',
  'Messaging.ackMessages': 'The messages are acknowledged',
  'Identity.getLoginForThirdPartyApp': 'The site asks who has logged in',
  'Identity.loginToThirdPartyApp': 'The wallet logs in',
  'Emulator.submitPayment': 'The wallet pays',
};

const sent = {
  request_to_receive_bill: 'The site creates the intent',
  request_to_login: 'The site creates the intent',
  code_scanned: 'The wallet says that the code was scanned',
  client_rejected_payment: 'The wallet says that the payment was declined',
  client_rejected_login: 'The wallet says that the login was declined',
};

const vias = { proxy: 'HTTP', websocket: 'WebSocket', grpc: 'gRPC', 'in-process': 'in the process' };
const viaOf = (via) => vias[via] ?? via;

/** An entry of the journal in words: `{ title, outcome, mood, notes }`; mood is good, bad or plain. */
export function tell(entry) {
  return (tellers[entry.kind] ?? tellUnknown)(entry);
}

const tellUnknown = ({ kind }) => ({ title: kind, mood: 'plain', notes: [] });

const tellers = {
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
    title: reason === 'done' ? 'The stream has come to its end' : 'The reader of the stream has left',
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
    title: `A fault that was asked for: ${fault.kind}`,
    outcome: fault.when === 'after' ? 'after the operation' : 'instead of the operation, or before it',
    mood: 'bad',
    notes: [operation, viaOf(via)],
  }),
  reversed: () => ({ title: 'The payment has failed after all: it is reversed', mood: 'bad', notes: [] }),
  kept: () => ({ title: 'Kept in the state file from before a restart', mood: 'plain', notes: [] }),
};

function callTitle({ operation, request }) {
  if (operation !== 'Messaging.sendMessage') return calls[operation] ?? `A call of ${operation}`;
  return sent[kindOf(request.content?.message ?? {})] ?? 'A message is sent';
}

/** The kind of a message: its member that is no id and no signature. */
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
  user: () => 'the user who logs in',
  payer: () => 'the account that pays',
};

/** What came of checking a signature, in words. */
export function tellSignature(signature) {
  const signer = signers[signature.signer](signature);
  if (signature.outcome === 'valid') return `Signed by ${signer}`;
  return signature.outcome === 'missing' ? `Not signed by ${signer}` : `The signature by ${signer} does not verify`;
}

const bytes = (count) => (count === 1 ? '1 byte' : `${count.toLocaleString('en')} bytes`);
const took = (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** How long ago something was. */
export function age(atMs, nowMs) {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** A moment of the day, to the millisecond. */
export function clock(atMs) {
  const date = new Date(atMs);
  const part = (number, length = 2) => String(number).padStart(length, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((number) => part(number)).join(':');
  return `${time}.${part(date.getMilliseconds(), 3)}`;
}

/** A key or an id, short enough to be compared at a glance. */
export const short = (key) => (key.length > 16 ? `${key.slice(0, 6)}…${key.slice(-6)}` : key);
