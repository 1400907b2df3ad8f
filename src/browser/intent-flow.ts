import type { Emit } from './events.js';
import type { IntentDialog, State } from './intent-dialog.js';
import type { Settings } from './settings.js';
import type { Watch } from './watch.js';

/** How a payment or a login of one button stands, from the click to its end, and what its beginning and its end share. */
export interface IntentFlow {
  readonly dialog: IntentDialog;
  readonly read: () => Settings;
  readonly emit: Emit;
  /** Every intent that may still be confirmed; more than one after a second try. */
  readonly watches: Map<string, Watch>;
  settings: Settings;
  state: State | 'idle';
  /** Of the dialog that is open, from its opening to its end. */
  attempt?: AbortController | undefined;
  given?: string | undefined;
  onGiven?: (() => void) | undefined;
  latestId?: string | undefined;
  /** The intent whose code is on the screen. */
  shownId?: string | undefined;
  endsAtMs: number;
  timer?: ReturnType<typeof setTimeout>;
}

export const createFlow = (dialog: IntentDialog, read: () => Settings, emit: Emit): IntentFlow => ({
  dialog,
  read,
  emit,
  watches: new Map(),
  settings: {} as Settings,
  state: 'idle',
  endsAtMs: 0,
});

/** What can be tried again, and what a dialog that is closed then was closed for. */
export const isReason = (state: string): state is 'rejected' | 'expired' | 'problem' =>
  /rejected|expired|problem/.test(state);

export function show(flow: IntentFlow, state: State, text?: string): void {
  flow.state = state;
  flow.dialog.show(state, text);
}

/** Takes the code off the page; what it stood for is still watched. */
export function putAway(flow: IntentFlow, state: State, text?: string): void {
  clearTimeout(flow.timer);
  flow.shownId = undefined;
  flow.dialog.clearCode();
  show(flow, state, text);
}

export function unwatch(flow: IntentFlow, watch: Watch): void {
  watch.stop();
  flow.watches.delete(watch.id);
}

export function unwatchAll(flow: IntentFlow): void {
  for (const watch of flow.watches.values()) unwatch(flow, watch);
}

export function endAttempt(flow: IntentFlow): void {
  clearTimeout(flow.timer);
  flow.attempt?.abort();
  flow.state = 'idle';
  flow.attempt = undefined;
  flow.shownId = undefined;
  flow.onGiven = undefined;
}
