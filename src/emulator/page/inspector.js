import { call, post } from './api.js';
import { startSwitches } from './fault-switches.js';
import { showIntent, showOther } from './inspector-detail.js';
import { filtered, showAges, showCount, showList } from './inspector-list.js';
import { namesByKey, showWallets } from './inspector-wallets.js';
import { byId, setText } from './make.js';

const api = '/inspector/api';
const ageIntervalMs = 5_000;
/** What the fragment says for calls that name no intent: no id has this form. */
const otherId = 'other';

let listed = { intents: [], other: 0, faults: 0, nowMs: 0 };
/** From this machine's clock to that of the sequencer, which may be one of a test. */
let aheadMs = 0;
let events;
/** The wallets' names by their keys. */
let names = {};

/** A fragment that somebody has typed may be anything: then it is taken as it stands, and there is no such intent. */
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
  setText(byId('nothing'), reason || 'Choose an intent to see what happened to it.');
}

async function refreshWallets() {
  const { wallets } = await call(`${api}/wallets`);
  names = namesByKey(wallets);
  showWallets(wallets);
}

async function act(action, id, body) {
  try {
    await post(`${api}/intents/${encodeURIComponent(id)}/${action}`, body);
    warn('');
  } catch (error) {
    warn(error.message);
  }
  await look();
}

let isLooking = false;
let hasMore = false;

/** Shows what there is now. What happens meanwhile is looked at afterwards, and all of it at once. */
async function look() {
  hasMore = true;
  if (isLooking) return;
  isLooking = true;
  while (hasMore) {
    hasMore = false;
    try {
      await refresh();
      warn('');
    } catch (error) {
      warn(error.message);
    }
  }
  isLooking = false;
}

function warn(text) {
  setText(byId('trouble'), text);
  byId('trouble').hidden = text === '';
}

/** A page that nobody sees holds no connection: a browser has few of them for one site. */
function listenWhileSeen() {
  events?.close();
  events = undefined;
  if (document.hidden) return;
  events = new EventSource(`${api}/events`);
  events.addEventListener('message', look);
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
document.addEventListener('visibilitychange', listenWhileSeen);
setInterval(() => showAges(Date.now() + aheadMs), ageIntervalMs);
setText(byId('setting'), `INTENT_SEQUENCER_URL=${location.origin}`);
listenWhileSeen();
look();
