import { byId, make, reconcile, refill } from './dom.js';
import { pill } from './inspector-list.js';
import { clock, describeEntry, describeSignature, titleOf } from './words.js';

/** Shows one intent. `names` maps keys to wallet names; `act` performs an action: reverse or mark. */
export function showIntent(intent, names, act) {
  const { id, kind, state, marked, createdAtMs, entries, dropped } = intent;
  refill(byId('detail-head'), { ...summaryOf(intent), state, createdAtMs }, () => head(intent));
  refill(byId('detail-actions'), { id, kind, state, marked }, () => actions(intent, act));
  refill(byId('detail-facts'), factsOf(intent, names), (facts) => facts.map(([term, value]) => fact(term, value)));
  showSignatures(intent);
  showRequest(intent.request);
  showTimeline(entries, dropped, createdAtMs);
}

/** Shows the calls that name no intent. */
export function showOther({ entries, dropped }) {
  const title = 'Calls that name no intent';
  const text = 'Unreadable requests, unknown operations, and calls about unknown intents.';
  refill(byId('detail-head'), title, () => [heading(title), make('p', { className: 'lead' }, text)]);
  for (const part of ['actions', 'facts']) refill(byId(`detail-${part}`), '', () => []);
  byId('signatures').hidden = true;
  showRequest(undefined);
  showTimeline(entries, dropped, entries[0]?.atMs ?? 0);
}

const summaryOf = ({ id, kind, amount, currency, domain }) => ({ id, kind, amount, currency, domain });

const heading = (text) => make('h2', { id: 'detail-title', tabIndex: -1 }, text);

const kinds = { payment: 'Payment', login: 'Login', unknown: 'Intent' };

function head(intent) {
  const { id, kind, state, domain } = intent;
  const what = kind === 'payment' && domain ? `Payment with login to ${domain}` : kinds[kind];
  const copy = make('button', { type: 'button', className: 'copy' }, 'Copy');
  copy.append(make('span', { className: 'unseen' }, ' the id'));
  copy.addEventListener('click', () => {
    navigator.clipboard.writeText(id).then(
      () => copy.replaceChildren('Copied'),
      () => copy.replaceChildren('Cannot copy'),
    );
  });
  return [
    make('p', { className: 'eyebrow' }, what, ' ', pill(state)),
    heading(titleOf(intent)),
    make('p', { className: 'whole-id' }, make('code', {}, id), copy),
  ];
}

function actions({ id, kind, state, marked }, act) {
  const made = [];
  if (/^(created|scanned|declined|reversed)$/.test(state)) {
    made.push(make('a', { className: 'button primary', href: '/wallet' }, 'Open the wallet'));
  }
  if (kind === 'payment' && state === 'submitted') {
    made.push(button('Reverse the payment', () => act('reverse', id, {})));
  }
  if (state !== 'refused' && state !== 'forgotten') {
    const toggle = button(marked ? '★ Marked' : '☆ Mark', () => act('mark', id, { marked: !marked }));
    toggle.setAttribute('aria-pressed', String(marked));
    made.push(toggle);
  }
  if (made.length === 0) return [];
  const isOpen = made[0].localName === 'a';
  const hint = 'Only the page of the site has the code. Scan it there, or paste its link into the wallet.';
  return [make('div', { className: 'buttons' }, ...made), isOpen ? make('p', { className: 'hint' }, hint) : ''];
}

function button(text, onClick) {
  const made = make('button', { type: 'button' }, text);
  made.addEventListener('click', onClick);
  return made;
}

function factsOf({ createdAtMs, destination, verifier, payer, userId, webhookUrl }, names) {
  const person = (key) => (key && names[key] ? `${names[key]}, ${key}` : key);
  return [
    ['Created', new Date(createdAtMs).toLocaleString()],
    ['To', destination],
    ['Paid by', person(payer)],
    ['Verifier', verifier],
    ['User', person(userId)],
    ['Webhook', webhookUrl],
  ].filter(([, value]) => value !== undefined);
}

const fact = (term, value) => make('div', {}, make('dt', {}, term), make('dd', {}, value));

function showSignatures({ signatures, entries }) {
  const keyFile = entries.findLast(({ kind }) => kind === 'key-file');
  byId('signatures').hidden = signatures.length === 0;
  refill(byId('signature-list'), { signatures, keyFile }, () => [
    ...signatures.map(signatureItem),
    ...(keyFile ? [keyFileItem(keyFile)] : []),
  ]);
}

function signatureItem(signature) {
  const { key, operations, outcome } = signature;
  const item = checkItem(outcome === 'valid', describeSignature(signature));
  const where = operations.map((name) => name.split('.')[1]).join(', ');
  item.append(make('p', { className: 'hint' }, where), key ? make('code', {}, key) : '');
  return item;
}

function keyFileItem({ domain, address, problem }) {
  const item = checkItem(!problem, problem ?? `The verifier is published by ${domain}`);
  item.append(make('p', { className: 'hint' }, 'Read at'), make('code', {}, address));
  return item;
}

function checkItem(isGood, text) {
  const verdict = make('span', { className: 'unseen' }, isGood ? 'Passed: ' : 'Failed: ');
  return make('li', { className: isGood ? 'good' : 'bad' }, make('p', { className: 'verdict' }, verdict, text));
}

function showRequest(request) {
  byId('request').hidden = request === undefined;
  if (request !== undefined) refill(byId('request-tree'), request, messageView);
}

function showTimeline(entries, dropped, startedAtMs) {
  const shown = entries.map((entry) => ({ ...entry, sinceMs: entry.atMs - startedAtMs }));
  reconcile(byId('timeline-list'), shown, ({ number }) => number, timelineItem);
  byId('dropped').hidden = dropped === 0;
  byId('dropped').textContent = `${dropped} entries after the first were removed to stay within the limit.`;
}

function timelineItem(entry) {
  const { title, outcome, mood, notes } = describeEntry(entry);
  const { atMs, lastAtMs, sinceMs, times } = entry;
  const when = make('time', { dateTime: new Date(atMs).toISOString() }, clock(atMs));
  const since = sinceMs > 0 ? make('span', {}, `+${(sinceMs / 1000).toFixed(3)} s`) : '';
  const repeated = times > 1 ? [`${times} times, last at ${clock(lastAtMs)}`] : [];
  const item = make(
    'li',
    { className: mood },
    make('p', { className: 'when' }, when, since),
    make('p', { className: 'what' }, title, ' ', outcome ? make('span', { className: 'outcome' }, outcome) : ''),
    make('p', { className: 'hint' }, [...notes, ...repeated].join(' · ')),
  );
  const folds = [
    ['Request', entry.request],
    ['Response', entry.answer],
    ['Message', entry.message],
    ['Signed claims', entry.claims && { content: entry.claims }],
    ['Fault', entry.fault && { content: entry.fault }],
  ].filter(([, message]) => message);
  const details = folds.map(([name, { content }]) =>
    make('details', {}, make('summary', {}, name), messageView(content)),
  );
  if (details.length > 0) item.append(make('div', { className: 'folds' }, ...details));
  return item;
}

/** A message as a tree of details. */
function messageView(content) {
  if (content === undefined) return make('p', { className: 'hint' }, 'Too large to be recorded, or unreadable.');
  if (Object.keys(content).length === 0) return make('p', { className: 'hint' }, 'Empty, which means OK.');
  return make('div', { className: 'tree' }, branches(content));
}

function branches(content) {
  return make('ul', {}, ...Object.entries(content).map(([name, value]) => branch(name, value)));
}

function branch(name, value) {
  const label = make('span', { className: 'name' }, name);
  if (typeof value !== 'object') return make('li', {}, label, ' ', leaf(value));
  const count = Object.keys(value).length;
  if (count === 0) return make('li', {}, label, ' ', make('span', { className: 'hint' }, 'empty'));
  return make('li', {}, make('details', { open: true }, make('summary', {}, label), branches(value)));
}

function leaf(value) {
  return make('span', { className: typeof value === 'string' ? 'text' : 'number' }, String(value));
}
