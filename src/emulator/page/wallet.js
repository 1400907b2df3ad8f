import { act, fetchIntents, fetchWallets } from './api.js';
import { parseFragment } from './return-links.js';
import { byId, show, showEnd, showIntents, showRequest, showWallets, warn } from './view.js';

const chosenKey = 'simulated-wallet';
/** How long it says what happened before it goes back to the shop, in milliseconds. */
const lingerMs = 1_500;

let wallet = '';
let code = '';
/** Where the shop wants its visitor back; `{ success, cancel }`, each an address or undefined. */
let back = {};
// Counts what was opened, so that a slow answer to something older is not shown over something newer.
let opened = 0;

/** The code is a private key: it is taken out of the address bar, the history and a later reload at once. */
function takeFragment() {
  const fragment = location.hash.slice(1);
  if (fragment) history.replaceState(null, '', location.pathname);
  return fragment;
}

/** Opens a code, or a link that has one as its fragment. */
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
    else showEnd('done', alreadyTitle(answer.request), 'Nothing more to do here.', back.success);
  } catch (error) {
    if (turn === opened) showEnd('warn', 'This cannot be opened', error.message);
  }
  refreshIntents();
}

const alreadyTitle = ({ kind }) => (kind === 'payment' ? 'This is already paid' : 'This login is already confirmed');

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

/** As a wallet on a phone does; not when something else was opened meanwhile. */
function goBackSoon(url) {
  const turn = opened;
  setTimeout(() => turn === opened && location.assign(url), lingerMs);
}

function showRejected({ kind }) {
  const text = kind === 'payment' ? 'Nothing was paid.' : 'Nobody was logged in.';
  showEnd('plain', 'Rejected', back.cancel ? text : `${text} Go back to the shop’s tab.`, back.cancel);
}

async function refreshIntents() {
  try {
    showIntents(await fetchIntents());
  } catch {
    // The list is an extra; what matters has its own message.
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
byId('reject').addEventListener('click', () => finish('reject', showRejected));
byId('another').addEventListener('click', showPaste);
start();
