import { byId, make, reconcile, setText } from './dom.js';
import { age, short, titleOf } from './words.js';

/** The intents that match the filters. */
export function filtered(intents, { text, kind, state }) {
  const wanted = text.trim().toLowerCase();
  return intents.filter((intent) => {
    if (kind !== '' && intent.kind !== kind) return false;
    if (state === 'marked' ? !intent.marked : state !== '' && intent.state !== state) return false;
    const { id, amount = '', currency = '', domain = '' } = intent;
    return wanted === '' || [id, amount, currency, domain].some((one) => one.toLowerCase().includes(wanted));
  });
}

/** Lists the intents; `chosenId` is the one in the detail view. */
export function showList(intents, chosenId) {
  const rows = intents.map((intent) => ({ ...intent, isChosen: intent.id === chosenId }));
  reconcile(byId('intents'), rows, ({ id }) => id, row);
}

export function showCount(shown, all) {
  const count = all === 1 ? '1 intent' : `${all} intents`;
  setText(byId('count'), shown === all ? count : `${shown} of ${count}`);
}

/** Updates the ages, which change without an event. */
export function showAges(nowMs) {
  for (const time of document.querySelectorAll('time[data-at]')) setText(time, age(Number(time.dataset.at), nowMs));
}

function row(intent) {
  const { id, state, createdAtMs, marked, refusals, isChosen } = intent;
  const time = make('time', { dateTime: new Date(createdAtMs).toISOString() });
  time.dataset.at = createdAtMs;
  const facts = make('span', { className: 'facts' }, make('span', { className: 'id' }, short(id)), time);
  if (refusals > 0 && state !== 'refused') facts.append(make('span', { className: 'bad' }, `${refusals} refused`));
  const title = make('span', { className: 'title' }, marked ? '★ ' : '', titleOf(intent));
  if (marked) title.append(make('span', { className: 'unseen' }, ' (marked)'));
  const link = make('a', { href: `#${id}` }, title, pill(state), facts);
  if (isChosen) link.setAttribute('aria-current', 'true');
  return make('li', {}, link);
}

/** A state in its colour. */
export const pill = (state) => make('span', { className: `pill ${state}` }, state);
