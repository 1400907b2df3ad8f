import type { FaultList } from './faults/fault-list.js';
import type { IntentStore } from './intent-store.js';
import type { KeyFileReader } from './key-file.js';
import type { WebhookCaller } from './webhook.js';

/** What the operations share. */
export interface SequencerState {
  readonly intents: IntentStore;
  readonly keyFiles: KeyFileReader;
  readonly webhooks: WebhookCaller;
  readonly faults: FaultList;
  /** Aborted when the sequencer closes. */
  readonly closing: AbortSignal;
  /** The time, ms since 1970. */
  readonly now: () => number;
}
