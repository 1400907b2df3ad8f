import { succeed } from './end.js';
import { type IntentFlow, putAway, show, unwatch, watchedIds } from './intent-flow.js';
import { forgetPending, recallPending } from './pending.js';
import { type Sign, startWatch, type Watch } from './watch.js';

// What is heard of the intents that were begun, and what of it is shown.

/** Looks after what was begun before a reload. */
export function restore(flow: IntentFlow): void {
  flow.settings = flow.read();
  const id = recallPending(flow.settings.what);
  if (id && !watchedIds.has(id)) void follow(flow, id, true).ask();
}

export function follow(flow: IntentFlow, id: string, isRestored = false): Watch {
  const { watches, settings } = flow;
  const known = watches.get(id);
  if (known) return known;
  const watch = startWatch(id, settings, (sign) => hear(flow, watch, sign, isRestored));
  watches.set(id, watch);
  watchedIds.add(id);
  return watch;
}

function hear(flow: IntentFlow, watch: Watch, sign: Sign, isRestored: boolean): void {
  const { id } = watch;
  if (sign === 'submitted') {
    void succeed(flow, watch);
    return;
  }
  if (sign === 'unknown' && isRestored) {
    const { what } = watch.settings;
    if (recallPending(what) === id) forgetPending(what);
    unwatch(flow, watch);
  }
  if ((sign === 'scanned' || sign === 'rejected') && !watch.isScanned) {
    watch.isScanned = true;
    void flow.emit('scanned', { intent: id });
  }
  if (id !== flow.shownId) return;
  if (Date.now() >= flow.endsAtMs) expire(flow);
  else if (sign === 'rejected') putAway(flow, sign);
  else show(flow, sign === 'offline' ? sign : watch.isScanned ? 'scanned' : 'waiting');
}

/** The time of the code on the screen is over. */
export function expire(flow: IntentFlow): void {
  const { watches, settings, dialog } = flow;
  const { expired, noticed } = dialog.locale.texts;
  for (const watch of watches.values()) watch.rest();
  putAway(flow, 'expired', settings.mode === 'payment' ? `${expired} ${noticed}` : undefined);
}
