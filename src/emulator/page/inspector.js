import { call, post } from './api.js';
import { byId, make, refill, setText } from './dom.js';
import { startSwitches } from './faults.js';
import { showIntent, showOther } from './inspector-detail.js';
import { filtered, showAges, showCount, showList } from './inspector-list.js';

const api = '/inspector/api';
const ageIntervalMs = 5_000;
/** The fragment for calls that name no intent. No id has this form. */
const otherId = 'other';

let listed = { intents: [], other: 0, faults: 0, nowMs: 0 };
/** The sequencer's clock minus the browser's: a test can set the sequencer's clock. */
let aheadMs = 0;
let events;
/** Wallet names by key. */
let names = {};

/** The intent in the fragment. A fragment that cannot be decoded is used as it is, and is then unknown. */
function chosenId() {
  const fragment = location.hash.slice(1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

const isNarrow = () => matchMedia('(max-width: 56rem)').matches;

async function refresh() {
  listed = await call(`${api}/intents`);
  aheadMs = listed.nowMs - Date.now();
  showAll();
  await refreshWallets();
  await refreshDetail();
}

function showAll() {
  const { intents, other, faults } = listed;
  const filter = { text: byId('search').value, kind: byId('kind').value, state: byId('state-filter').value };
  const shown = filtered(intents, filter);
  showList(shown, chosenId());
  showCount(shown.length, intents.length);
  showAges(Date.now() + aheadMs);
  const isEmpty = intents.length === 0;
  byId('empty').hidden = !isEmpty;
  byId('browse').hidden = isEmpty && other === 0;
  byId('none-found').hidden = isEmpty || shown.length > 0;
  byId('other').hidden = other === 0;
  setText(byId('other-count'), other === 1 ? '1 call' : `${other} calls`);
  byId('faults-on').hidden = faults === 0;
  setText(byId('faults-on'), faults === 1 ? '1 fault is on' : `${faults} faults are on`);
}

async function refreshDetail() {
  const id = chosenId();
  const isChosen = id !== '';
  document.body.classList.toggle('chosen', isChosen);
  if (!isChosen) return showNothing('');
  byId('other').toggleAttribute('aria-current', id === otherId);
  try {
    const address = id === otherId ? `${api}/other` : `${api}/intents/${encodeURIComponent(id)}`;
    const found = await call(address);
    if (id !== chosenId()) return;
    byId('nothing').hidden = true;
    byId('detail-body').hidden = false;
    if (id === otherId) showOther(found);
    else showIntent(found, names, act);
  } catch (error) {
    if (id === chosenId()) showNothing(error.message);
  }
}

function showNothing(reason) {
  byId('detail-body').hidden = true;
  byId('nothing').hidden = listed.intents.length === 0 && reason === '';
  setText(byId('nothing'), reason || 'Choose an intent to see its timeline.');
}

async function refreshWallets() {
  const { wallets } = await call(`${api}/wallets`);
  names = namesByKey(wallets);
  refill(byId('wallet-list'), wallets, () => wallets.map(walletItem));
}

/** Maps the accounts and user ids of wallets to their names. */
function namesByKey(wallets) {
  const keys = wallets.flatMap(({ name, account, users }) => [
    [account, name],
    ...users.map((user) => [user.userId, name]),
  ]);
  return Object.fromEntries(keys);
}

function walletItem({ name, account, users }) {
  const known = users.map(({ domain, userId }) => identity(`User at ${domain}`, userId));
  return make('li', {}, make('h3', {}, name), make('dl', {}, identity('Pays from', account), ...known));
}

const identity = (term, key) => make('div', {}, make('dt', {}, term), make('dd', {}, make('code', {}, key)));

async function act(action, id, body) {
  try {
    await post(`${api}/intents/${encodeURIComponent(id)}/${action}`, body);
    warn('');
  } catch (error) {
    warn(error.message);
  }
  await update();
}

let isUpdating = false;
let isStale = false;

/** Fetches and shows the current state. Changes during an update lead to one more update. */
async function update() {
  isStale = true;
  if (isUpdating) return;
  isUpdating = true;
  while (isStale) {
    isStale = false;
    try {
      await refresh();
      warn('');
    } catch (error) {
      warn(error.message);
    }
  }
  isUpdating = false;
}

function warn(text) {
  setText(byId('trouble'), text);
  byId('trouble').hidden = text === '';
}

/** Listens while the page is visible: browsers limit the connections per site. */
function listenWhileVisible() {
  events?.close();
  events = undefined;
  if (document.hidden) return;
  events = new EventSource(`${api}/events`);
  events.addEventListener('message', update);
  events.addEventListener('error', () => warn('The embedded sequencer does not answer. Is it still running?'));
}

async function choose() {
  const before = document.querySelector('#intents a[aria-current]');
  showAll();
  await refreshDetail();
  if (!isNarrow()) return;
  if (chosenId() === '') (before ?? byId('search')).focus();
  else byId('detail-title')?.focus();
}

for (const id of ['search', 'kind', 'state-filter']) byId(id).addEventListener('input', showAll);
byId('filters').addEventListener('submit', (event) => event.preventDefault());
byId('back').addEventListener('click', (event) => {
  event.preventDefault();
  history.pushState(null, '', location.pathname);
  choose();
});
byId('faults').addEventListener('toggle', () => startSwitches(byId('switches')), { once: true });
byId('faults-on').addEventListener('click', () => {
  byId('faults').open = true;
  byId('faults').querySelector('summary').focus();
});
addEventListener('hashchange', choose);
addEventListener('popstate', choose);
document.addEventListener('visibilitychange', listenWhileVisible);
setInterval(() => showAges(Date.now() + aheadMs), ageIntervalMs);
setText(byId('setting'), `INTENT_SEQUENCER_URL=${location.origin}`);
listenWhileVisible();
update();
