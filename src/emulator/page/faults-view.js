import { byId, make } from './make.js';

export { byId };

const groups = {
  connection: 'The connection',
  slow: 'Slow answers',
  wrong: 'Wrong answers',
  memory: 'Intents and messages',
};

const callers = {
  'Your site': {
    createIntent: 'Create an intent',
    getStatus: 'Ask for the status',
    getLoginForThirdPartyApp: 'Ask who logged in',
    registerWebhook: 'Register a webhook',
    openMessageStream: 'Open the message stream',
    ackMessages: 'Acknowledge messages',
  },
  'Your site and the wallet': {
    sendMessage: 'Send a message',
    pollMessages: 'Fetch messages',
  },
  'The simulated wallet': {
    submitPayment: 'Submit a payment',
    loginToThirdPartyApp: 'Log in',
  },
};

const titles = Object.assign({}, ...Object.values(callers));
const titleOf = (operation) => titles[operation] ?? operation;
const delivering = ['pollMessages', 'openMessageStream'];
const statuses = [500, 502, 503, 429, 404];

const often = {
  '': 'Every call, until switched off',
  1: 'The next call',
  2: 'The next 2 calls',
  3: 'The next 3 calls',
  10: 'The next 10 calls',
};
const moments = { '': 'Instead of the operation', after: 'After it took effect' };

/** Makes the place for the switches: what is on, what the next one applies to, and the kinds. */
export function buildSwitches(root) {
  const state = make('p', { id: 'state', role: 'status' }, 'Asking the sequencer…');
  const endAll = make('button', { type: 'button', id: 'end-all', hidden: true }, 'Switch all off');
  const note = make('p', { className: 'note', id: 'note', role: 'alert', hidden: true });
  const now = make('section', { className: 'now', aria: { labelledby: 'state' } });
  now.append(make('div', { className: 'state' }, state, endAll), note);
  const settings = make('fieldset', { className: 'card settings' });
  settings.append(
    make('legend', {}, 'What the next switch applies to'),
    choice('operation', 'Operation', { '': 'All operations' }),
    choice('times', 'How often', often),
    choice('when', 'Moment', moments),
  );
  root.replaceChildren(now, settings, make('div', { id: 'groups' }));
}

function choice(id, text, options) {
  const select = make('select', { id });
  // The one for all comes first, wherever an object puts it.
  const entries = Object.entries(options).sort(([one], [other]) => (one === '' ? -1 : other === '' ? 1 : 0));
  select.append(...entries.map(([value, label]) => make('option', { value }, label)));
  select.value = '';
  return make('div', {}, make('label', { htmlFor: id }, text), select);
}

/** Fills the choice of operations, by who calls them. */
export function showOperations(known) {
  for (const [caller, named] of Object.entries(callers)) {
    const options = Object.keys(named).filter((name) => known.includes(name));
    const group = element('optgroup');
    group.label = caller;
    group.append(...options.map((name) => Object.assign(element('option', titleOf(name)), { value: name })));
    byId('operation').append(group);
  }
}

/** Lists the kinds, each with its switch. */
export function showKinds(kinds, onFlip) {
  const sections = Object.entries(groups).map(([group, title]) => {
    const section = element('section');
    const list = element('ul');
    list.className = 'card kinds';
    list.append(...kinds.filter((traits) => traits.group === group).map((traits) => kindRow(traits, onFlip)));
    section.append(element('h2', title), list);
    return section;
  });
  byId('groups').replaceChildren(...sections);
}

function kindRow(traits, onFlip) {
  const { kind, title, does } = traits;
  const row = element('li');
  row.id = `kind-${kind}`;
  const text = element('div');
  const heading = Object.assign(element('h3', title), { id: `title-${kind}` });
  const description = Object.assign(element('p', does), { id: `does-${kind}` });
  const state = Object.assign(element('p'), { id: `state-${kind}`, className: 'on' });
  text.append(heading, description, ...settingOf(traits), state);
  const flip = element('button');
  Object.assign(flip, { type: 'button', className: 'switch', id: `switch-${kind}` });
  flip.setAttribute('role', 'switch');
  flip.setAttribute('aria-checked', 'false');
  flip.setAttribute('aria-labelledby', heading.id);
  flip.setAttribute('aria-describedby', `${description.id} ${state.id}`);
  flip.addEventListener('click', () => onFlip(traits));
  row.append(text, flip);
  return row;
}

/** What can be set of this kind alone. */
function settingOf({ kind, ms, httpStatus }) {
  if (ms) {
    const input = Object.assign(element('input'), { type: 'number', min: 1, max: 600_000, step: 1, value: ms });
    return [labelled(kind, kind === 'delay' ? 'Wait' : 'Wait for each byte', input, 'ms')];
  }
  if (!httpStatus) return [];
  const select = element('select');
  select.append(...statuses.map((status) => Object.assign(element('option', status), { value: status })));
  select.value = httpStatus;
  return [labelled(kind, 'Status', select)];
}

function labelled(kind, text, control, unit = '') {
  const line = element('p');
  line.className = 'setting';
  control.id = `setting-${kind}`;
  const label = Object.assign(element('label', text), { htmlFor: control.id });
  line.append(label, control, unit);
  return line;
}

/** The fault that a switch asks for as everything is set now. */
export function settingsOf({ kind, when, ms, httpStatus, messagesOnly }) {
  const operation = byId('operation').value;
  const times = byId('times').value;
  const own = byId(`setting-${kind}`)?.value;
  const concerned = operation !== '' && (!messagesOnly || delivering.includes(operation));
  return {
    kind,
    ...(concerned && { operations: [operation] }),
    ...(times !== '' && { times: Number(times) }),
    ...(when && byId('when').value !== '' && { when: byId('when').value }),
    ...(ms && { ms: Number(own) }),
    ...(httpStatus && { httpStatus: Number(own) }),
  };
}

/** Shows what is on; all else stays as the person has set it. */
export function showFaults(kinds, active) {
  for (const { kind, when } of kinds) {
    const own = active.filter((fault) => fault.kind === kind);
    byId(`kind-${kind}`).classList.toggle('active', own.length > 0);
    byId(`switch-${kind}`).setAttribute('aria-checked', String(own.length > 0));
    setText(`state-${kind}`, own.map((fault) => describe(fault, when)).join('\n'));
  }
  const count = active.length === 1 ? '1 fault is on.' : `${active.length} faults are on.`;
  setText('state', active.length === 0 ? 'All is well: no fault is on.' : count);
  byId('state').parentElement.classList.toggle('active', active.length > 0);
  byId('end-all').hidden = active.length === 0;
}

function describe({ operations, timesLeft, when, ms, httpStatus }, usualMoment) {
  const parts = [
    operations ? operations.map(titleOf).join(', ') : 'All operations',
    timesLeft === undefined ? 'every call' : timesLeft === 1 ? '1 call left' : `${timesLeft} calls left`,
  ];
  if (when && when !== usualMoment) parts.push(when === 'after' ? 'after it took effect' : 'before it takes effect');
  if (ms) parts.push(`${ms} ms`);
  if (httpStatus) parts.push(`status ${httpStatus}`);
  return parts.join(' · ');
}

/** Shows what went wrong, or takes it away. */
export function warn(text) {
  setText('note', text);
  byId('note').hidden = text === '';
}

// What says the same again must not be read out again.
function setText(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

function element(name, text = '') {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
