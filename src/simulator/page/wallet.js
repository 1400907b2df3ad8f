import { callApi, postJson } from './api.js';
import { byId, createElement, showNote } from './dom.js';
import { formatMoney, shorten } from './format.js';
import { parseFragment } from './return-links.js';

// The page shows one screen at a time:
//   paste    takes a code or link
//   loading  scans the request of the code
//   request  shows its terms; Pay, Log in or Decline leads to `end`
//   end      shows the outcome or an error; `Open another request` leads to `paste`
// A link in the fragment, or a submitted code, leads to `loading`.

const walletKey = 'simulated-wallet';
/** How long the outcome shows before the page returns to the shop, in milliseconds. */
const returnDelayMs = 1_500;

let wallet = '';
let code = '';
/** The return addresses: `{ success, cancel }`, each a URL or undefined. */
let back = {};
/** Counts opened requests: a slow response to an older one is not shown. */
let openCount = 0;

/** Takes the code from the fragment. It is a private key, so it is removed from the address bar and the history. */
function takeFragment() {
  const fragment = location.hash.slice(1);
  if (fragment) history.replaceState(null, '', location.pathname);
  return fragment;
}

function open(link) {
  ({ code, ...back } = parseFragment(link.slice(link.indexOf('#') + 1).trim()));
  return scan();
}

const act = (action) => postJson(`/wallet/api/${action}`, { wallet, code });

async function scan() {
  openCount += 1;
  const current = openCount;
  show('loading');
  try {
    const answer = await act('scan');
    if (current !== openCount) return;
    if (!answer.submitted) return showRequest(answer);
    const title = answer.request.kind === 'payment' ? 'Already paid' : 'Already logged in';
    showEnd('done', title, 'You can close this page.', back.success);
  } catch (error) {
    if (current === openCount) showEnd('warn', 'Cannot open this request', error.message);
  }
}

async function finish(action, showFinished) {
  const current = openCount;
  setBusy(true);
  showNote('note', '');
  try {
    const { request } = await act(action);
    if (current === openCount) showFinished(request);
  } catch (error) {
    if (current === openCount) showNote('note', error.message);
  } finally {
    setBusy(false);
  }
}

function setBusy(busy) {
  for (const control of document.querySelectorAll('#actions button, #wallets input')) control.disabled = busy;
}

function showConfirmed({ kind, login }) {
  const { success } = back;
  const title = kind === 'login' ? 'Logged in' : login ? 'Paid and logged in' : 'Paid';
  const text = success ? `Returning to ${new URL(success).host}…` : 'Close this tab to return to the shop.';
  showEnd('done', title, text, success);
  const current = openCount;
  if (success) setTimeout(() => current === openCount && location.assign(success), returnDelayMs);
}

function showDeclined({ kind }) {
  const text = kind === 'payment' ? 'Nothing was paid.' : 'You are not logged in.';
  showEnd('plain', 'Declined', back.cancel ? text : `${text} Close this tab to return to the shop.`, back.cancel);
}

const screens = ['paste', 'loading', 'request', 'end'];

/** Shows one screen and focuses its heading, which a screen reader then reads. */
function show(screen) {
  for (const id of screens) byId(id).hidden = id !== screen;
  byId(screen).querySelector('h1').focus({ preventScroll: true });
}

function showRequest({ request, userId }) {
  const { id, kind, amount, currency, exact, destination, login } = request;
  const isPayment = kind === 'payment';
  const headline = isPayment ? formatMoney(amount, currency) : login.domain;
  const site = login ? ` from ${login.domain}` : '';
  byId('eyebrow').textContent = isPayment ? `Payment request${site}` : 'Log in to';
  byId('headline').textContent = headline;
  byId('headline').classList.toggle('amount', isPayment && headline.length <= 14);
  byId('confirm').textContent = isPayment ? 'Pay' : 'Log in';

  const rows = [];
  if (isPayment) rows.push(row('To', key(destination)));
  if (exact && currency !== 'kin') {
    rows.push(
      row('Fixed rate', `1 kin = ${exact.exchangeRate} ${currency}`),
      row('Pays', `${inKin(exact.quarks)} kin`),
    );
  }
  if (isPayment && login) rows.push(row('Logs in to', login.domain));
  if (login) rows.push(row('User', key(userId)));
  rows.push(row('Intent', key(id)));
  byId('details').replaceChildren(...rows);

  const checks = ['Signature matches this code'];
  if (login) checks.push(`Signed by the verifier of ${login.domain}`);
  if (isPayment) checks.push('Amount and currency match this code');
  byId('checks').replaceChildren(...checks.map((check) => createElement('li', {}, check)));
  showNote('note', '');
  show('request');
}

/** Quarks, a decimal string of hundred-thousandths, as a decimal. */
function inKin(quarks) {
  const digits = quarks.padStart(6, '0');
  return `${digits.slice(0, -5)}.${digits.slice(-5)}`.replace(/\.?0+$/, '');
}

/** Shows the outcome, with a link back if there is one. `mark` is done, plain or warn. */
function showEnd(mark, title, text, backUrl) {
  byId('mark').className = `mark ${mark}`;
  byId('end-title').textContent = title;
  byId('end-text').textContent = text;
  byId('back').replaceChildren(...(backUrl ? [backLink(backUrl)] : []));
  show('end');
}

function backLink(url) {
  const properties = { href: url, rel: 'noreferrer', className: 'button primary' };
  return createElement('a', properties, `Back to ${new URL(url).host}`);
}

const row = (term, description) =>
  createElement('div', {}, createElement('dt', {}, term), createElement('dd', {}, description));

const key = (text) => createElement('code', { title: text }, shorten(text));

function showPaste() {
  code = '';
  back = {};
  openCount += 1;
  byId('paste-form').reset();
  show('paste');
}

function showWallets(names) {
  const labels = names.map((name) => {
    const input = createElement('input', { type: 'radio', name: 'wallet', value: name, checked: name === wallet });
    input.addEventListener('change', () => choose(name));
    return createElement('label', {}, input, name);
  });
  byId('wallets').replaceChildren(...labels);
}

function choose(name) {
  wallet = name;
  localStorage.setItem(walletKey, name);
  if (!byId('request').hidden) scan();
}

async function start() {
  const fragment = takeFragment();
  if (fragment) show('loading');
  try {
    const { wallets: names } = await callApi('/wallet/api/wallets');
    const remembered = localStorage.getItem(walletKey);
    wallet = names.includes(remembered) ? remembered : names[0];
    showWallets(names);
  } catch (error) {
    return showEnd('warn', 'The wallet cannot start', error.message);
  }
  addEventListener('hashchange', () => {
    const link = takeFragment();
    if (link) open(link);
  });
  if (fragment) await open(fragment);
}

byId('paste-form').addEventListener('submit', (event) => {
  event.preventDefault();
  open(byId('code').value);
});
byId('confirm').addEventListener('click', () => finish('confirm', showConfirmed));
byId('decline').addEventListener('click', () => finish('decline', showDeclined));
byId('another').addEventListener('click', showPaste);
start();
