import { act, fetchIntents, fetchWallets } from './api.js';
import { byId } from './dom.js';
import { parseFragment } from './return-links.js';
import { show, showEnd, showIntents, showRequest, showWallets, warn } from './wallet-view.js';

const chosenKey = 'simulated-wallet';
/** How long the outcome shows before the page returns to the shop, in milliseconds. */
const returnDelayMs = 1_500;

let wallet = '';
let code = '';
/** The return addresses: `{ success, cancel }`, each a URL or undefined. */
let back = {};
/** Counts opened requests: a slow response to an older one is not shown. */
let opened = 0;

/** Takes the code from the fragment. It is a private key, so it leaves the address bar and the history at once. */
function takeFragment() {
  const fragment = location.hash.slice(1);
  if (fragment) history.replaceState(null, '', location.pathname);
  return fragment;
}

/** Opens a code, alone or as the fragment of a link. */
function open(link) {
  const { code: found, ...urls } = parseFragment(link.slice(link.indexOf('#') + 1).trim());
  code = found;
  back = urls;
  return scan();
}

async function scan() {
  opened += 1;
  const turn = opened;
  show('loading');
  try {
    const answer = await act('scan', wallet, code);
    if (turn !== opened) return;
    if (!answer.submitted) showRequest(answer);
    else showEnd('done', submittedTitle(answer.request), 'Nothing more to do here.', back.success);
  } catch (error) {
    if (turn === opened) showEnd('warn', 'This cannot be opened', error.message);
  }
  refreshIntents();
}

const submittedTitle = ({ kind }) => (kind === 'payment' ? 'Already paid' : 'Already logged in');

async function finish(action, showFinished) {
  const turn = opened;
  setBusy(true);
  warn('');
  try {
    const { request } = await act(action, wallet, code);
    if (turn === opened) showFinished(request);
  } catch (error) {
    if (turn === opened) warn(error.message);
  } finally {
    setBusy(false);
  }
  refreshIntents();
}

function setBusy(busy) {
  const controls = document.querySelectorAll('#actions button, #wallets input');
  for (const control of controls) control.disabled = busy;
}

function showConfirmed({ kind, login }) {
  const { success } = back;
  const shop = kind === 'login' ? login.domain : 'the shop';
  const text = success ? `Taking you back to ${new URL(success).host} …` : `Go back to the tab of ${shop}.`;
  const title = login ? 'Paid and logged in' : 'Paid';
  showEnd('done', kind === 'login' ? 'Logged in' : title, text, success);
  if (success) goBackSoon(success);
}

/** Returns to the shop, unless another request was opened meanwhile. */
function goBackSoon(url) {
  const turn = opened;
  setTimeout(() => turn === opened && location.assign(url), returnDelayMs);
}

function showDeclined({ kind }) {
  const text = kind === 'payment' ? 'Nothing was paid.' : 'You are not logged in.';
  showEnd('plain', 'Declined', back.cancel ? text : `${text} Go back to the shop’s tab.`, back.cancel);
}

async function refreshIntents() {
  try {
    showIntents(await fetchIntents());
  } catch {
    // The list is optional. Failures of the request itself are shown.
  }
}

function choose(name) {
  wallet = name;
  localStorage.setItem(chosenKey, name);
  if (!byId('request').hidden) scan();
}

function showPaste() {
  code = '';
  back = {};
  opened += 1;
  byId('paste-form').reset();
  show('paste');
}

function openFragment() {
  const fragment = takeFragment();
  if (fragment) open(fragment);
}

async function start() {
  const fragment = takeFragment();
  if (fragment) show('loading');
  try {
    const names = await fetchWallets();
    const remembered = localStorage.getItem(chosenKey);
    wallet = names.includes(remembered) ? remembered : names[0];
    showWallets(names, wallet, choose);
  } catch (error) {
    return showEnd('warn', 'The wallet cannot start', error.message);
  }
  addEventListener('hashchange', openFragment);
  if (fragment) await open(fragment);
  else await refreshIntents();
}

byId('paste-form').addEventListener('submit', (event) => {
  event.preventDefault();
  open(byId('code').value);
});
byId('confirm').addEventListener('click', () => finish('confirm', showConfirmed));
byId('decline').addEventListener('click', () => finish('decline', showDeclined));
byId('another').addEventListener('click', showPaste);
start();
