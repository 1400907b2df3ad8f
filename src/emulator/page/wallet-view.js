import { byId, make } from './dom.js';
import { formatMoney, short } from './words.js';

const screens = ['paste', 'loading', 'request', 'end'];

/** Shows one screen and focuses its heading, which a screen reader then reads. */
export function show(screen) {
  for (const id of screens) byId(id).hidden = id !== screen;
  byId(screen).querySelector('h1').focus({ preventScroll: true });
}

/** Shows the request, its site, and the checks it passed. */
export function showRequest({ request, userId }) {
  const { kind, login } = request;
  const isPayment = kind === 'payment';
  const headline = isPayment ? formatMoney(request.amount, request.currency) : login.domain;
  byId('asked').textContent = isPayment ? 'You are asked to pay' : 'Log in to';
  byId('headline').textContent = headline;
  byId('headline').classList.toggle('amount', isPayment);
  byId('headline').classList.toggle('long', headline.length > 14);

  const rows = [];
  if (isPayment) rows.push(row('To', keyButton(request.destination)));
  if (isPayment && login) rows.push(row('Logs you in to', login.domain));
  if (login) rows.push(row('As', keyButton(userId)));
  rows.push(row('Intent', keyButton(request.id)));
  byId('details').replaceChildren(...rows);

  const checks = ['Signature matches this code'];
  if (login) checks.push(`Signed by the verifier of ${login.domain}`);
  checks.push(isPayment ? 'Amount and currency match the code' : 'Code and request are both for a login');
  byId('checks').replaceChildren(...checks.map((check) => make('li', {}, check)));
  warn('');
  show('request');
}

/** Shows a warning on the request, or hides it. */
export function warn(text) {
  byId('note').textContent = text;
  byId('note').hidden = text === '';
}

/** Shows the outcome, with a link back if there is one. `mark` is done, plain or warn. */
export function showEnd(mark, title, text, backUrl) {
  byId('mark').className = `mark ${mark}`;
  byId('end-title').textContent = title;
  byId('end-text').textContent = text;
  byId('back').replaceChildren(...(backUrl ? [backLink(backUrl)] : []));
  show('end');
}

/** Shows the choice of wallets. */
export function showWallets(names, chosen, onChange) {
  const labels = names.map((name) => {
    const input = make('input', { type: 'radio', name: 'wallet', value: name, checked: name === chosen });
    input.addEventListener('change', () => onChange(name));
    return make('label', {}, input, name);
  });
  byId('wallets').replaceChildren(...labels);
}

/** Lists the newest intents. */
export function showIntents(intents) {
  const items = intents.map(({ id, kind, amount, currency, domain, state }) => {
    const what = kind === 'payment' ? `Pay ${formatMoney(amount, currency)}` : `Log in to ${domain}`;
    return make('li', { className: state, title: id }, make('span', {}, what), make('span', {}, state));
  });
  byId('intents').replaceChildren(...items);
  byId('recent').hidden = items.length === 0;
}

function backLink(url) {
  const properties = { href: url, rel: 'noreferrer', className: 'button primary' };
  return make('a', properties, `Back to ${new URL(url).host}`);
}

const row = (term, description) => make('div', {}, make('dt', {}, term), make('dd', {}, description));

/** A shortened key. The whole key shows on hover, and after a click. */
function keyButton(key) {
  const button = make('button', { type: 'button', className: 'key', title: key }, short(key));
  button.addEventListener('click', () => {
    button.textContent = button.textContent === key ? short(key) : key;
  });
  return button;
}
