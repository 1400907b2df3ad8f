import { byId, createElement, showNote, updateList } from './dom.js';
import { formatTime } from './format.js';

export function showTimeline(entries, dropped, startedAtMs) {
  const shown = entries.map((entry) => ({ ...entry, sinceMs: entry.atMs - startedAtMs }));
  updateList(byId('timeline-list'), shown, ({ number }) => number, timelineItem);
  const removed = dropped === 1 ? '1 entry after the first was' : `${dropped} entries after the first were`;
  showNote('dropped', dropped > 0 ? `${removed} removed to limit memory.` : '');
}

function timelineItem(entry) {
  const { title, outcome, mood = 'plain', notes = [] } = (descriptions[entry.kind] ?? describeUnknown)(entry);
  const { atMs, lastAtMs, sinceMs, times } = entry;
  const time = createElement('time', { dateTime: new Date(atMs).toISOString() }, formatTime(atMs));
  const since = sinceMs > 0 ? createElement('span', {}, `+${(sinceMs / 1000).toFixed(3)} s`) : '';
  const repeated = times > 1 ? [`${times} times, last at ${formatTime(lastAtMs)}`] : [];
  const item = createElement(
    'li',
    { className: mood },
    createElement('p', { className: 'when' }, time, since),
    createElement(
      'p',
      { className: 'what' },
      title,
      ' ',
      outcome ? createElement('span', { className: 'outcome' }, outcome) : '',
    ),
    createElement('p', { className: 'hint' }, [...notes, ...repeated].join(' · ')),
  );
  const messages = [
    ['Request', entry.request],
    ['Response', entry.response],
    ['Message', entry.message],
    ['Claims', entry.claims && { content: entry.claims }],
    ['Fault', entry.fault && { content: entry.fault }],
  ].filter(([, message]) => message);
  const details = messages.map(([name, { content }]) =>
    createElement('details', {}, createElement('summary', {}, name), messageView(content)),
  );
  if (details.length > 0) item.append(createElement('div', { className: 'messages' }, ...details));
  return item;
}

const calls = {
  'Intents.createIntent': 'Site creates the intent',
  'MicroPayment.getStatus': 'Site polls the status',
  'MicroPayment.registerWebhook': 'Site registers its webhook',
  'Messaging.openMessageStream': 'Site opens the message stream',
  'Messaging.pollMessages': 'Messages polled',
  'Messaging.ackMessages': 'Messages acknowledged',
  'Identity.getLoginForThirdPartyApp': 'Site requests the user id',
  'Identity.loginToThirdPartyApp': 'Wallet logs in',
  'Simulator.submitPayment': 'Wallet pays',
};

const sentMessages = {
  request_to_receive_bill: 'Site creates the intent',
  request_to_login: 'Site creates the intent',
  code_scanned: 'Wallet sends: scanned',
  client_rejected_payment: 'Wallet sends: payment declined',
  client_rejected_login: 'Wallet sends: login declined',
};

const transports = { proxy: 'HTTP', websocket: 'WebSocket', grpc: 'gRPC', 'in-process': 'in process' };
const transportOf = (via) => transports[via] ?? via;

/** The texts of each kind of entry: `{ title, outcome, mood, notes }`; mood is good, bad or plain. */
const descriptions = {
  call(entry) {
    const { operation, via, durationMs, request, response } = entry;
    const sizes = response ? `${bytes(request.size)} in, ${bytes(response.size)} out` : `${bytes(request.size)} in`;
    const notes = [operation, transportOf(via), duration(durationMs), sizes];
    return { title: callTitle(entry), ...outcomeOf(entry), notes };
  },
  stream({ via, refusal }) {
    const outcome = refusal ? { outcome: refused(refusal), mood: 'bad' } : { outcome: 'opened', mood: 'good' };
    return { title: calls['Messaging.openMessageStream'], ...outcome, notes: [transportOf(via)] };
  },
  delivery({ via, message }) {
    const kinds = (message.content?.messages ?? []).map(kindOf).join(', ');
    return { title: `Delivered: ${kinds || 'a message'}`, notes: [transportOf(via), bytes(message.size)] };
  },
  'stream-end': ({ via, reason }) => ({
    title: reason === 'complete' ? 'Stream completed' : 'Stream ended early',
    notes: [transportOf(via)],
  }),
  'key-file': ({ domain, address, problem, durationMs }) => ({
    title: `${address ? 'Key file' : 'Verifier'} of ${domain} checked`,
    outcome: problem ?? (address ? 'lists the verifier' : 'a trusted key'),
    mood: problem ? 'bad' : 'good',
    notes: [...(address ? [address] : []), duration(durationMs)],
  }),
  webhook: ({ url, status, problem, durationMs }) => ({
    title: 'Webhook called',
    outcome: problem ?? `status ${status}`,
    mood: status === 200 ? 'good' : 'bad',
    notes: [url, duration(durationMs)],
  }),
  fault: ({ operation, via, fault }) => ({
    title: `Injected fault: ${fault.kind}`,
    outcome: faultTiming(operation, fault),
    mood: 'bad',
    notes: [operation, transportOf(via)],
  }),
  reversed: () => ({ title: 'Payment reversed', mood: 'bad' }),
  restored: () => ({ title: 'Restored from the state file' }),
};

function faultTiming(operation, { kind, when }) {
  if (operation === 'Messaging.openMessageStream')
    return `${/^(?:disconnect|status)$/.test(kind) ? 'instead of' : 'during'} the stream`;
  const skipsOperation = !/^(?:delay|forget)$/.test(kind);
  return `${when === 'before' && skipsOperation ? 'instead of' : when} the operation`;
}

const describeUnknown = ({ kind }) => ({ title: kind });

function callTitle({ operation, request }) {
  if (operation !== 'Messaging.sendMessage') return calls[operation] ?? operation;
  return sentMessages[kindOf(request.content?.message ?? {})] ?? 'Message sent';
}

/** The kind of a message: its field other than the id and the signature. */
function kindOf(message) {
  return Object.keys(message).find((name) => !/^(?:id|send_message_request_signature)$/.test(name)) ?? '';
}

function outcomeOf({ refusal, response }) {
  if (refusal) return { outcome: refused(refusal), mood: 'bad' };
  const result = response?.content?.result ?? 'OK';
  return { outcome: result, mood: result === 'OK' ? 'good' : 'bad' };
}

const refused = ({ code, message }) => (code ? `refused, ${code}: ${message}` : `refused: ${message}`);
const bytes = (count) => (count === 1 ? '1 byte' : `${count.toLocaleString('en')} bytes`);
const duration = (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

export function messageView(content) {
  if (content === undefined) return createElement('p', { className: 'hint' }, 'Too large to record, or unreadable.');
  if (Object.keys(content).length === 0) return createElement('p', { className: 'hint' }, 'Empty.');
  return createElement('div', { className: 'tree' }, branches(content));
}

function branches(content) {
  return createElement('ul', {}, ...Object.entries(content).map(([name, value]) => branch(name, value)));
}

function branch(name, value) {
  const label = createElement('span', { className: 'name' }, name);
  if (typeof value !== 'object')
    return createElement('li', {}, label, ' ', createElement('span', { className: typeof value }, `${value}`));
  if (Object.keys(value).length === 0)
    return createElement('li', {}, label, ' ', createElement('span', { className: 'name' }, 'empty'));
  return createElement(
    'li',
    {},
    createElement('details', { open: true }, createElement('summary', {}, label), branches(value)),
  );
}
