import { call, post } from './api.js';
import { buildSwitches, byId, settingsOf, showFaults, showKinds, showOperations, warn } from './faults-view.js';

const refreshIntervalMs = 2_000;

let kinds = [];
let active = [];
// Whether the sequencer did not answer when it was last asked.
let isAway = false;

async function refresh() {
  active = (await call('/faults/api/faults')).faults;
  showFaults(kinds, active);
}

/** Does something, tells what went wrong, and shows what is on now. */
async function attempt(action) {
  try {
    await action();
    warn('');
  } catch (error) {
    warn(error.message);
  }
  await refresh().catch((error) => warn(error.message));
}

const end = ({ id }) => call(`/faults/api/faults/${id}`, { method: 'DELETE' });

function flip(traits) {
  const own = active.filter(({ kind }) => kind === traits.kind);
  return attempt(() => (own.length > 0 ? Promise.all(own.map(end)) : post('/faults/api/faults', settingsOf(traits))));
}

// Calls use faults up, and programs switch them too.
async function refreshWhenSeen() {
  if (document.hidden) return;
  try {
    await refresh();
    if (isAway) warn('');
    isAway = false;
  } catch (error) {
    isAway = true;
    warn(error.message);
  }
}

/** Puts the switches of all faults into an element, and keeps them right for as long as the page is there. */
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
  setInterval(refreshWhenSeen, refreshIntervalMs);
  document.addEventListener('visibilitychange', refreshWhenSeen);
}
