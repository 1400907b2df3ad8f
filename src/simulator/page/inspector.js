import { callApi, noConnection, postJson } from './api.js';
import { byId, createElement, setText, showNote, updateList } from './dom.js';
import { startFaults } from './faults.js';
import { formatDate, formatTerms, shorten } from './format.js';
import { showIntent, showOther, statePill } from './intent-detail.js';

const api = '/inspector/api';
/** The fragment for calls without an intent. No id has this form. */
const otherId = 'other';

let listed = { intents: [], other: 0, faults: 0 };
let events;

/** The id in the fragment. A fragment that cannot be decoded is an unknown id. */
function selectedId() {
  const fragment = location.hash.slice(1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

let isRefreshing = false;
let isStale = false;

/** Fetches and shows the current state. Changes during a refresh lead to one more refresh. */
async function refresh() {
  isStale = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isStale) {
    isStale = false;
    try {
      listed = await callApi(`${api}/intents`);
      showList();
      await showSelected();
      showNote('problem', '');
    } catch (error) {
      showNote('problem', error.message);
    }
  }
  isRefreshing = false;
}

function showList() {
  const { intents, other, faults } = listed;
  const wanted = byId('search').value.trim().toLowerCase();
  const shown = intents
    .filter(({ id, amount, currency, domain, kind, state }) =>
      [id, amount, currency, domain, kind, state].some((text) => text?.toLowerCase().includes(wanted)),
    )
    .map((intent) => ({ ...intent, isSelected: intent.id === selectedId() }));
  updateList(byId('intents'), shown, ({ id }) => id, listItem);
  const count = intents.length === 1 ? '1 intent' : `${intents.length} intents`;
  setText(byId('count'), shown.length === intents.length ? count : `${shown.length} of ${count}`);
  byId('empty').hidden = intents.length > 0;
  byId('browse').hidden = intents.length === 0 && other === 0;
  byId('other').hidden = other === 0;
  setText(byId('other-count'), String(other));
  byId('active-faults').hidden = faults === 0;
  setText(byId('active-faults'), faults === 1 ? '1 active fault' : `${faults} active faults`);
}

function listItem(intent) {
  const { id, state, createdAtMs, refusals, isSelected } = intent;
  const time = createElement('time', { dateTime: new Date(createdAtMs).toISOString() }, formatDate(createdAtMs));
  const facts = createElement('span', { className: 'facts' }, createElement('code', {}, shorten(id)), time);
  if (refusals > 0 && state !== 'refused')
    facts.append(createElement('span', { className: 'bad' }, `${refusals} refused`));
  const title = createElement('span', { className: 'title' }, formatTerms(intent));
  const link = createElement('a', { href: `#${id}` }, title, statePill(state), facts);
  if (isSelected) link.setAttribute('aria-current', 'true');
  return createElement('li', {}, link);
}

async function showSelected() {
  const id = selectedId();
  document.body.classList.toggle('selected', id !== '');
  byId('other').toggleAttribute('aria-current', id === otherId);
  if (id === '') return showNoDetail('Select an intent to see its timeline.');
  try {
    const found = await callApi(id === otherId ? `${api}/other` : `${api}/intents/${encodeURIComponent(id)}`);
    if (id !== selectedId()) return;
    showNoDetail('');
    if (id === otherId) showOther(found);
    else showIntent(found, reverse);
  } catch (error) {
    if (id === selectedId()) showNoDetail(error.message);
  }
}

function showNoDetail(text) {
  showNote('no-detail', text);
  byId('detail-body').hidden = text !== '';
}

async function reverse(id) {
  try {
    await postJson(`${api}/intents/${encodeURIComponent(id)}/reverse`, {});
    await refresh();
  } catch (error) {
    showNote('problem', error.message);
  }
}

/** Listens while the page is visible: browsers limit the connections per site. */
function listenWhileVisible() {
  events?.close();
  events = undefined;
  if (document.hidden) return;
  events = new EventSource(`${api}/events`);
  events.addEventListener('message', refresh);
  events.addEventListener('error', () => showNote('problem', noConnection));
}

/** Shows the selected intent. A narrow page then moves the focus, because it shows only the list or only the details. */
async function select() {
  const previous = document.querySelector('#intents a[aria-current]');
  showList();
  await showSelected();
  if (!matchMedia('(max-width: 56rem)').matches) return;
  if (selectedId() === '') (previous ?? byId('search')).focus();
  else byId('detail-title')?.focus();
}

byId('search').addEventListener('input', showList);
byId('back').addEventListener('click', (event) => {
  event.preventDefault();
  history.pushState(null, '', location.pathname);
  select();
});
byId('faults').addEventListener('toggle', startFaults, { once: true });
byId('active-faults').addEventListener('click', () => {
  byId('faults').open = true;
  byId('faults').querySelector('summary').focus();
});
addEventListener('hashchange', select);
addEventListener('popstate', select);
document.addEventListener('visibilitychange', listenWhileVisible);
setText(byId('setting'), `INTENT_SEQUENCER_URL=${location.origin}`);
listenWhileVisible();
refresh();
