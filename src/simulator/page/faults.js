import { callApi, postJson } from './api.js';
import { byId, createElement, setText, showNote } from './dom.js';

const api = '/faults/api';
const refreshIntervalMs = 2_000;

const groups = {
  connection: 'Connection',
  slow: 'Slow responses',
  wrong: 'Wrong responses',
  data: 'Intents and messages',
};

const operationTitles = {
  createIntent: 'Create an intent',
  getStatus: 'Poll the status',
  getLoginForThirdPartyApp: 'Request the user id',
  registerWebhook: 'Register a webhook',
  openMessageStream: 'Open the message stream',
  pollMessages: 'Poll messages',
  ackMessages: 'Acknowledge messages',
  sendMessage: 'Send a message (site, wallet)',
  submitPayment: 'Pay (wallet)',
  loginToThirdPartyApp: 'Log in (wallet)',
};

const statuses = [500, 502, 503, 429, 404];
const deliveringOperations = ['pollMessages', 'openMessageStream'];

let kinds = [];
let active = [];
let isUnreachable = false;

/** Lists the kinds of faults, each with its switch, and keeps them up to date. */
export async function startFaults() {
  byId('clear-all').addEventListener('click', () => change(() => callApi(`${api}/faults`, { method: 'DELETE' })));
  try {
    const known = await callApi(`${api}/kinds`);
    kinds = known.kinds;
    const options = known.operations.map((value) => createElement('option', { value }, titleOf(value)));
    byId('operation').append(...options);
    byId('groups').replaceChildren(...Object.entries(groups).map(([group, title]) => section(group, title)));
    await refresh();
  } catch (error) {
    warn(error.message);
  }
  setInterval(refreshWhenVisible, refreshIntervalMs);
  document.addEventListener('visibilitychange', refreshWhenVisible);
}

async function refresh() {
  active = (await callApi(`${api}/faults`)).faults;
  showActive();
}

/** Calls use up faults, and tests inject and clear them too. */
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

async function change(action) {
  try {
    await action();
    warn('');
  } catch (error) {
    warn(error.message);
  }
  await refresh().catch((error) => warn(error.message));
}

function toggle(traits) {
  const own = active.filter(({ kind }) => kind === traits.kind);
  const clear = ({ id }) => callApi(`${api}/faults/${id}`, { method: 'DELETE' });
  return change(() => (own.length > 0 ? Promise.all(own.map(clear)) : postJson(`${api}/faults`, faultOf(traits))));
}

function faultOf({ kind, when, ms, httpStatus, messagesOnly }) {
  const operation = byId('operation').value;
  const times = byId('times').value;
  const own = Number(byId(`setting-${kind}`)?.value);
  const applies = operation !== '' && (!messagesOnly || deliveringOperations.includes(operation));
  return {
    kind,
    ...(applies && { operations: [operation] }),
    ...(times !== '' && { times: Number(times) }),
    ...(when && byId('when').value !== '' && { when: byId('when').value }),
    ...(ms && { ms: own }),
    ...(httpStatus && { httpStatus: own }),
  };
}

const titleOf = (operation) => operationTitles[operation] ?? operation;

function section(group, title) {
  const items = kinds.filter((traits) => traits.group === group).map(kindItem);
  return createElement('section', {}, createElement('h3', {}, title), createElement('ul', {}, ...items));
}

function kindItem(traits) {
  const { kind, title, description } = traits;
  const aria = { describedby: `description-${kind} state-${kind}` };
  const control = createElement('input', { type: 'checkbox', role: 'switch', id: `switch-${kind}`, aria });
  control.addEventListener('click', () => toggle(traits));
  return createElement(
    'li',
    {},
    control,
    createElement(
      'div',
      {},
      createElement('label', { htmlFor: control.id }, title),
      createElement('p', { id: `description-${kind}`, className: 'hint' }, description),
      ...settingOf(traits),
      createElement('p', { id: `state-${kind}`, className: 'on' }),
    ),
  );
}

function settingOf({ kind, ms, httpStatus }) {
  const id = `setting-${kind}`;
  const labelled = (text, control, unit = '') =>
    createElement('p', { className: 'setting' }, createElement('label', { htmlFor: id }, text), control, unit);
  if (ms) {
    const input = createElement('input', { id, type: 'number', min: 1, max: 600_000, step: 1, value: ms });
    return [labelled('Delay', input, 'ms')];
  }
  if (!httpStatus) return [];
  const select = createElement(
    'select',
    { id },
    ...statuses.map((status) => createElement('option', { value: status }, `${status}`)),
  );
  select.value = httpStatus;
  return [labelled('Status', select)];
}

function showActive() {
  for (const { kind, when } of kinds) {
    const own = active.filter((fault) => fault.kind === kind);
    byId(`switch-${kind}`).checked = own.length > 0;
    setText(byId(`state-${kind}`), own.map((fault) => describe(fault, when)).join('\n'));
  }
  const count = active.length === 1 ? '1 active fault' : `${active.length} active faults`;
  setText(byId('fault-count'), active.length === 0 ? 'No active faults' : count);
  byId('clear-all').hidden = active.length === 0;
}

function describe({ operations, timesLeft, when, ms, httpStatus }, defaultWhen) {
  const parts = [
    operations ? operations.map(titleOf).join(', ') : 'All operations',
    timesLeft === undefined ? 'all calls' : timesLeft === 1 ? '1 call left' : `${timesLeft} calls left`,
  ];
  if (when && when !== defaultWhen) parts.push(`${when} the operation`);
  if (ms) parts.push(`${ms} ms`);
  if (httpStatus) parts.push(`status ${httpStatus}`);
  return parts.join(' · ');
}

const warn = (text) => showNote('fault-problem', text);
