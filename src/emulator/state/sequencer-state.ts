import type { FaultList } from '../faults/fault-list.js';
import type { Journal } from '../journal/journal.js';
import type { KeyFileReader } from '../outbound/key-file.js';
import type { WebhookCaller } from '../outbound/webhook.js';
import type { IntentStore } from './intent-store.js';

/** What the operations share. */
export interface SequencerState {
  readonly intents: IntentStore;
  readonly journal: Journal;
  readonly keyFiles: KeyFileReader;
  readonly webhooks: WebhookCaller;
  readonly faults: FaultList;
  /** The name of this sequencer, another one at every start. */
  readonly instance: string;
  /** Aborted when the sequencer closes. */
  readonly closing: AbortSignal;
  /** The time, ms since 1970. */
  readonly now: () => number;
}
