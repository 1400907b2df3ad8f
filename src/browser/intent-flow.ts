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
  stage: State | 'idle';
  /** Of the dialog that is open, from its opening to its end. */
  attempt?: AbortController | undefined;
  /** The idempotency key of the intent that is being begun, once the site was asked for it. */
  key?: string | undefined;
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
  stage: 'idle',
  endsAtMs: 0,
});

/** What can be tried again, and what a dialog that is closed then was closed for. */
export const isReason = (state: string): state is 'rejected' | 'expired' | 'problem' =>
  /rejected|expired|problem/.test(state);

type Shown = Parameters<IntentDialog['show']>;

export function show(flow: IntentFlow, ...shown: Shown): void {
  flow.stage = shown[0];
  flow.dialog.show(...shown);
}

/** Takes the code off the page; what it stood for is still watched. */
export function putAway(flow: IntentFlow, ...shown: Shown): void {
  clearTimeout(flow.timer);
  flow.shownId = undefined;
  flow.dialog.clearCode();
  show(flow, ...shown);
}

/** What the buttons of this page watch: of two with the same order, one is told after a reload. */
export const watchedIds = new Set<string>();

export function unwatch(flow: IntentFlow, watch: Watch): void {
  watch.stop();
  flow.watches.delete(watch.id);
  watchedIds.delete(watch.id);
}

export function unwatchAll(flow: IntentFlow): void {
  for (const watch of flow.watches.values()) unwatch(flow, watch);
}

export function endAttempt(flow: IntentFlow): void {
  clearTimeout(flow.timer);
  flow.attempt?.abort();
  flow.stage = 'idle';
  flow.attempt = undefined;
  flow.shownId = undefined;
  flow.onGiven = undefined;
  flow.key = undefined;
}
