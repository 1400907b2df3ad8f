import { byId, make, update } from './dom.js';
import { formatDate, formatTerms } from './format.js';
import { messageView, showTimeline } from './timeline.js';

/** Shows one intent. `onReverse` reverses its payment. */
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

/** Shows the calls without an intent. */
export function showOther({ entries, dropped }) {
  const text = 'Unreadable requests, unknown operations, and requests for unknown intents.';
  update(byId('detail-head'), text, () => [heading('Calls without an intent'), make('p', { className: 'lead' }, text)]);
  for (const part of ['actions', 'facts']) update(byId(`detail-${part}`), '', () => []);
  byId('signatures').hidden = true;
  byId('request').hidden = true;
  showTimeline(entries, dropped, entries[0]?.atMs ?? 0);
}

/** A state in its color. */
export const statePill = (state) => make('span', { className: `pill ${state}` }, state);

const heading = (text) => make('h2', { id: 'detail-title', tabIndex: -1 }, text);

const kinds = { payment: 'Payment', login: 'Login', unknown: 'Intent' };

function head(intent) {
  const { id, kind, state, domain } = intent;
  const title = kind === 'payment' && domain ? `Payment with login to ${domain}` : kinds[kind];
  return [
    make('p', { className: 'eyebrow' }, title, ' ', statePill(state)),
    heading(formatTerms(intent)),
    make('p', { className: 'hint' }, make('code', {}, id)),
  ];
}

function actions({ id, kind, state }, onReverse) {
  if (kind === 'payment' && state === 'submitted') {
    const button = make('button', { type: 'button' }, 'Reverse payment');
    button.addEventListener('click', () => onReverse(id));
    return [button];
  }
  if (!/^(?:created|scanned|declined|reversed)$/.test(state)) return [];
  const hint = 'Only the page of the site has the code. Open its wallet link, or paste the code into the wallet.';
  return [
    make('a', { className: 'button primary', href: '/wallet' }, 'Open the wallet'),
    make('p', { className: 'hint' }, hint),
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

const fact = (term, value) => make('div', {}, make('dt', {}, term), make('dd', {}, value));

const signers = {
  rendezvous: () => 'the key in the code',
  verifier: ({ domain }) => (domain ? `the verifier of ${domain}` : 'the verifier'),
  user: () => 'the user',
  payer: () => 'the paying account',
};

function signatureItem(signature) {
  const { key, operations, outcome } = signature;
  const signer = signers[signature.signer](signature);
  const texts = {
    valid: `Signed by ${signer}`,
    missing: `Not signed by ${signer}`,
    invalid: `Signature by ${signer} is invalid`,
  };
  const item = checkItem(outcome === 'valid', texts[outcome]);
  const methods = operations.map((name) => name.split('.')[1]).join(', ');
  item.append(make('p', { className: 'hint' }, methods), key ? make('code', {}, key) : '');
  return item;
}

function keyFileItem({ domain, address, problem }) {
  const item = checkItem(!problem, problem ?? `${domain} publishes the verifier`);
  item.append(make('p', { className: 'hint' }, 'Read from'), make('code', {}, address));
  return item;
}

function checkItem(isPassed, text) {
  const outcome = make('span', { className: 'unseen' }, isPassed ? 'Passed: ' : 'Failed: ');
  return make('li', { className: isPassed ? 'good' : 'bad' }, make('p', { className: 'what' }, outcome, text));
}
