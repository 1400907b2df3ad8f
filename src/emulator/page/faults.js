import { call, post } from './api.js';
import { byId, make, setText } from './dom.js';

const refreshIntervalMs = 2_000;

let kinds = [];
let active = [];
/** Whether the last refresh failed. */
let isUnreachable = false;

async function refresh() {
  active = (await call('/faults/api/faults')).faults;
  showFaults(kinds, active);
}

/** Performs an action, shows its error if there is one, and refreshes. */
async function attempt(action) {
  try {
    await action();
    warn('');
  } catch (error) {
    warn(error.message);
  }
  await refresh().catch((error) => warn(error.message));
}

const clear = ({ id }) => call(`/faults/api/faults/${id}`, { method: 'DELETE' });

function flip(traits) {
  const own = active.filter(({ kind }) => kind === traits.kind);
  return attempt(() => (own.length > 0 ? Promise.all(own.map(clear)) : post('/faults/api/faults', settingsOf(traits))));
}

/** Calls use up faults, and tests switch them too. */
async function refreshWhenVisible() {
  if (document.hidden) return;
  try {
    await refresh();
    if (isUnreachable) warn('');
    isUnreachable = false;
  } catch (error) {
    isUnreachable = true;
    warn(error.message);
  }
}

/** Builds the fault switches in an element and keeps them up to date. */
export async function startSwitches(root) {
  buildSwitches(root);
  byId('end-all').addEventListener('click', () => attempt(() => call('/faults/api/faults', { method: 'DELETE' })));
  try {
    const known = await call('/faults/api/kinds');
    kinds = known.kinds;
    showOperations(known.operations);
    showKinds(kinds, flip);
    await refresh();
  } catch (error) {
    warn(error.message);
  }
  setInterval(refreshWhenVisible, refreshIntervalMs);
  document.addEventListener('visibilitychange', refreshWhenVisible);
}

const groups = {
  connection: 'The connection',
  slow: 'Slow responses',
  wrong: 'Wrong responses',
  memory: 'Intents and messages',
};

const callers = {
  'Your site': {
    createIntent: 'Create an intent',
    getStatus: 'Poll the status',
    getLoginForThirdPartyApp: 'Request the user id',
    registerWebhook: 'Register a webhook',
    openMessageStream: 'Open the message stream',
    ackMessages: 'Acknowledge messages',
  },
  'Your site and the wallet': {
    sendMessage: 'Send a message',
    pollMessages: 'Poll messages',
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

const counts = {
  '': 'Every call, until switched off',
  1: 'The next call',
  2: 'The next 2 calls',
  3: 'The next 3 calls',
  10: 'The next 10 calls',
};
const moments = { '': 'Instead of the operation', after: 'After it took effect' };

/** Builds the panel: the active faults, the settings of the next one, and a switch for each kind. */
function buildSwitches(root) {
  const state = make('p', { id: 'state', role: 'status' }, 'Loading…');
  const endAll = make('button', { type: 'button', id: 'end-all', hidden: true }, 'Switch all off');
  const note = make('p', { className: 'note', id: 'note', role: 'alert', hidden: true });
  const now = make('section', { className: 'now', aria: { labelledby: 'state' } });
  now.append(make('div', { className: 'state' }, state, endAll), note);
  const settings = make('fieldset', { className: 'card settings' });
  settings.append(
    make('legend', {}, 'Settings of the next fault'),
    choice('operation', 'Operation', { '': 'All operations' }),
    choice('times', 'How often', counts),
    choice('when', 'Moment', moments),
  );
  root.replaceChildren(now, settings, make('div', { id: 'groups' }));
}

function choice(id, text, options) {
  const select = make('select', { id });
  // Objects list integer keys first. The option for all must be first.
  const entries = Object.entries(options).sort(([one], [other]) => (one === '' ? -1 : other === '' ? 1 : 0));
  select.append(...entries.map(([value, label]) => make('option', { value }, label)));
  select.value = '';
  return make('div', {}, make('label', { htmlFor: id }, text), select);
}

/** Lists the operations, by their caller. */
function showOperations(known) {
  for (const [caller, named] of Object.entries(callers)) {
    const options = Object.keys(named).filter((name) => known.includes(name));
    const items = options.map((name) => make('option', { value: name }, titleOf(name)));
    byId('operation').append(make('optgroup', { label: caller }, ...items));
  }
}

/** Lists the kinds, each with its switch. */
function showKinds(kinds, onFlip) {
  const sections = Object.entries(groups).map(([group, title]) => {
    const rows = kinds.filter((traits) => traits.group === group).map((traits) => kindRow(traits, onFlip));
    return make('section', {}, make('h2', {}, title), make('ul', { className: 'card kinds' }, ...rows));
  });
  byId('groups').replaceChildren(...sections);
}

function kindRow(traits, onFlip) {
  const { kind, title, does } = traits;
  const text = make(
    'div',
    {},
    make('h3', { id: `title-${kind}` }, title),
    make('p', { id: `does-${kind}` }, does),
    ...settingOf(traits),
    make('p', { id: `state-${kind}`, className: 'on' }),
  );
  const aria = { checked: 'false', labelledby: `title-${kind}`, describedby: `does-${kind} state-${kind}` };
  const flip = make('button', { type: 'button', className: 'switch', id: `switch-${kind}`, role: 'switch', aria });
  flip.addEventListener('click', () => onFlip(traits));
  return make('li', { id: `kind-${kind}` }, text, flip);
}

/** The setting that only this kind has. */
function settingOf({ kind, ms, httpStatus }) {
  if (ms) {
    const input = make('input', { type: 'number', min: 1, max: 600_000, step: 1, value: ms });
    return [labelled(kind, kind === 'delay' ? 'Delay' : 'Delay before each byte', input, 'ms')];
  }
  if (!httpStatus) return [];
  const select = make('select', {}, ...statuses.map((status) => make('option', { value: status }, String(status))));
  select.value = httpStatus;
  return [labelled(kind, 'Status', select)];
}

function labelled(kind, text, control, unit = '') {
  control.id = `setting-${kind}`;
  return make('p', { className: 'setting' }, make('label', { htmlFor: control.id }, text), control, unit);
}

/** The fault of a switch with the current settings. */
function settingsOf({ kind, when, ms, httpStatus, messagesOnly }) {
  const operation = byId('operation').value;
  const times = byId('times').value;
  const own = byId(`setting-${kind}`)?.value;
  const applies = operation !== '' && (!messagesOnly || delivering.includes(operation));
  return {
    kind,
    ...(applies && { operations: [operation] }),
    ...(times !== '' && { times: Number(times) }),
    ...(when && byId('when').value !== '' && { when: byId('when').value }),
    ...(ms && { ms: Number(own) }),
    ...(httpStatus && { httpStatus: Number(own) }),
  };
}

/** Shows the active faults. The settings stay unchanged. */
function showFaults(kinds, active) {
  for (const { kind, when } of kinds) {
    const own = active.filter((fault) => fault.kind === kind);
    byId(`kind-${kind}`).classList.toggle('active', own.length > 0);
    byId(`switch-${kind}`).setAttribute('aria-checked', String(own.length > 0));
    setText(byId(`state-${kind}`), own.map((fault) => describe(fault, when)).join('\n'));
  }
  const count = active.length === 1 ? '1 fault is on.' : `${active.length} faults are on.`;
  setText(byId('state'), active.length === 0 ? 'No fault is on.' : count);
  byId('state').parentElement.classList.toggle('active', active.length > 0);
  byId('end-all').hidden = active.length === 0;
}

function describe({ operations, timesLeft, when, ms, httpStatus }, defaultMoment) {
  const parts = [
    operations ? operations.map(titleOf).join(', ') : 'All operations',
    timesLeft === undefined ? 'every call' : timesLeft === 1 ? '1 call left' : `${timesLeft} calls left`,
  ];
  if (when && when !== defaultMoment) parts.push(when === 'after' ? 'after it took effect' : 'before it takes effect');
  if (ms) parts.push(`${ms} ms`);
  if (httpStatus) parts.push(`status ${httpStatus}`);
  return parts.join(' · ');
}

/** Shows an error, or hides it. */
function warn(text) {
  setText(byId('note'), text);
  byId('note').hidden = text === '';
}
