import { byId, createElement, update } from './dom.js';
import { formatDate, formatTerms } from './format.js';
import { messageView, showTimeline } from './timeline.js';

export function showIntent(intent, onReverse) {
  const { id, kind, state, signatures, entries, dropped, createdAtMs, request } = intent;
  const { amount, currency, domain } = intent;
  update(byId('detail-head'), { id, kind, state, amount, currency, domain }, () => head(intent));
  update(byId('detail-actions'), { id, kind, state }, () => actions(intent, onReverse));
  update(byId('detail-facts'), factsOf(intent), (facts) => facts.map(([term, value]) => fact(term, value)));
  const keyFile = entries.findLast((entry) => entry.kind === 'key-file');
  byId('signatures').hidden = signatures.length === 0;
  update(byId('signature-list'), { signatures, keyFile }, () => [
    ...signatures.map(signatureItem),
    ...(keyFile ? [keyFileItem(keyFile)] : []),
  ]);
  byId('request').hidden = request === undefined;
  if (request !== undefined) update(byId('request-tree'), request, messageView);
  showTimeline(entries, dropped, createdAtMs);
}

export function showOther({ entries, dropped }) {
  const text =
    'Unreadable requests, unknown operations, requests for unknown intents, and faults that reject a WebSocket.';
  update(byId('detail-head'), text, () => [
    heading('Calls without an intent'),
    createElement('p', { className: 'lead' }, text),
  ]);
  for (const part of ['actions', 'facts']) update(byId(`detail-${part}`), '', () => []);
  byId('signatures').hidden = true;
  byId('request').hidden = true;
  showTimeline(entries, dropped, entries[0]?.atMs ?? 0);
}

export const statePill = (state) => createElement('span', { className: `pill ${state}` }, state);

const heading = (text) => createElement('h2', { id: 'detail-title', tabIndex: -1 }, text);

const kinds = { payment: 'Payment', login: 'Login', unknown: 'Intent' };

function head(intent) {
  const { id, kind, state, domain } = intent;
  const title = kind === 'payment' && domain ? `Payment with login to ${domain}` : kinds[kind];
  return [
    createElement('p', { className: 'eyebrow' }, title, ' ', statePill(state)),
    heading(formatTerms(intent)),
    createElement('p', { className: 'hint' }, createElement('code', {}, id)),
  ];
}

function actions({ id, kind, state }, onReverse) {
  if (kind === 'payment' && state === 'submitted') {
    const button = createElement('button', { type: 'button' }, 'Reverse payment');
    button.addEventListener('click', () => onReverse(id));
    return [button];
  }
  if (!/^(?:created|scanned|declined|reversed)$/.test(state)) return [];
  const hint = 'Only the page of the site has the code. Open its wallet link, or paste the code into the wallet.';
  return [
    createElement('a', { className: 'button primary', href: '/wallet' }, 'Open the wallet'),
    createElement('p', { className: 'hint' }, hint),
  ];
}

function factsOf({ createdAtMs, destination, verifier, payer, payerName, userId, userName, webhookUrl }) {
  const named = (key, name) => (name ? `${name}, ${key}` : key);
  return [
    ['Created', formatDate(createdAtMs)],
    ['To', destination],
    ['Paid by', named(payer, payerName)],
    ['Verifier', verifier],
    ['User', named(userId, userName)],
    ['Webhook', webhookUrl],
  ].filter(([, value]) => value !== undefined);
}

const fact = (term, value) => createElement('div', {}, createElement('dt', {}, term), createElement('dd', {}, value));

const signers = {
  rendezvous: 'the key in the code',
  verifier: 'the verifier key in the request',
  user: 'the user',
  payer: 'the paying account',
};

function signatureItem(signature) {
  const { key, operations, outcome } = signature;
  const signer = signers[signature.signer];
  const texts = {
    valid: `Signed by ${signer}`,
    missing: `Not signed by ${signer}`,
    invalid: `Signature by ${signer} is invalid`,
  };
  const item = checkItem(outcome === 'valid', texts[outcome]);
  const methods = operations.map((name) => name.split('.').at(-1)).join(', ');
  item.append(createElement('p', { className: 'hint' }, methods), key ? createElement('code', {}, key) : '');
  return item;
}

function keyFileItem({ domain, address, problem }) {
  const passed = address ? `${domain} publishes the verifier` : `Verifier trusted for ${domain}, without a key file`;
  const item = checkItem(!problem, problem ?? passed);
  if (address) item.append(createElement('p', { className: 'hint' }, 'Read from'), createElement('code', {}, address));
  return item;
}

function checkItem(isPassed, text) {
  const outcome = createElement('span', { className: 'unseen' }, isPassed ? 'Passed: ' : 'Failed: ');
  return createElement(
    'li',
    { className: isPassed ? 'good' : 'bad' },
    createElement('p', { className: 'what' }, outcome, text),
  );
}
