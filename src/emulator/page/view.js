/** The element with this id. */
export const byId = (id) => document.getElementById(id);

const screens = ['paste', 'loading', 'request', 'end'];

/** Shows one screen and says its heading to screen readers. */
export function show(screen) {
  for (const id of screens) byId(id).hidden = id !== screen;
  byId(screen).querySelector('h1').focus({ preventScroll: true });
}

/** An amount in its currency, as the reader's language writes it, and never rounded. */
export function formatMoney(amount, currency) {
  const options = { style: 'currency', currency: currency.toUpperCase() };
  const { minimumFractionDigits } = new Intl.NumberFormat(undefined, options).resolvedOptions();
  const maximumFractionDigits = Math.max(2, minimumFractionDigits);
  return new Intl.NumberFormat(undefined, { ...options, minimumFractionDigits, maximumFractionDigits }).format(amount);
}

/** Shows what is asked, by whom, and what was checked. */
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

  const checks = ['Signed by the key of this very code'];
  if (login) checks.push(`Signed by the verifier of ${login.domain}`);
  checks.push(isPayment ? 'Amount and currency match the code' : 'Code and request are both for a login');
  byId('checks').replaceChildren(...checks.map((check) => element('li', check)));
  warn('');
  show('request');
}

/** Shows a warning on the request, or takes it away. */
export function warn(text) {
  byId('note').textContent = text;
  byId('note').hidden = text === '';
}

/** Shows how it ended, and the way back where there is one. `mark` is done, plain or warn. */
export function showEnd(mark, title, text, backUrl) {
  byId('mark').className = `mark ${mark}`;
  byId('end-title').textContent = title;
  byId('end-text').textContent = text;
  byId('back').replaceChildren(...(backUrl ? [backLink(backUrl)] : []));
  show('end');
}

/** Fills the choice of wallets. */
export function showWallets(names, chosen, onChange) {
  const labels = names.map((name) => {
    const input = element('input');
    Object.assign(input, { type: 'radio', name: 'wallet', value: name, checked: name === chosen });
    input.addEventListener('change', () => onChange(name));
    const label = element('label', name);
    label.prepend(input);
    return label;
  });
  byId('wallets').replaceChildren(...labels);
}

const states = { submitted: 'confirmed', rejected: 'rejected', scanned: 'scanned', created: 'waiting' };

/** Lists the newest intents. */
export function showIntents(intents) {
  const items = intents.map(({ id, kind, amount, currency, domain, state }) => {
    const item = element('li');
    const what = kind === 'payment' ? `Pay ${formatMoney(amount, currency)}` : `Log in to ${domain}`;
    item.className = state;
    item.title = id;
    item.append(element('span', what), element('span', states[state] ?? state));
    return item;
  });
  byId('intents').replaceChildren(...items);
  byId('recent').hidden = items.length === 0;
}

function backLink(url) {
  const link = element('a', `Back to ${new URL(url).host}`);
  return Object.assign(link, { href: url, rel: 'noreferrer', className: 'button primary' });
}

function row(term, description) {
  const group = element('div');
  const value = element('dd');
  value.append(description);
  group.append(element('dt', term), value);
  return group;
}

/** A key, shortened: whole on hover, and on a tap where nothing hovers. */
function keyButton(key) {
  const short = `${key.slice(0, 6)}…${key.slice(-6)}`;
  const button = element('button', short);
  Object.assign(button, { type: 'button', className: 'key', title: key });
  button.addEventListener('click', () => {
    button.textContent = button.textContent === short ? key : short;
  });
  return button;
}

function element(name, text = '') {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
