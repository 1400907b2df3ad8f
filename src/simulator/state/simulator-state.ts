import { FaultList } from '../faults/active-faults.js';
import { Journal } from '../journal/journal.js';
import type { KeyFileReader } from '../outbound/fetch-key-file.js';
import type { WebhookCaller } from '../outbound/send-webhook.js';
import { IntentStore } from './intent-store.js';
import { readStateFile, StateFile } from './state-file.js';
import type { StateOwner } from './state-owner.js';

const capacity = 10_000;

/** The parts of a simulator that its operations, its servers and its inspector share. */
export interface SimulatorState {
  readonly intents: IntentStore;
  readonly journal: Journal;
  readonly keyFiles: KeyFileReader;
  readonly webhooks: WebhookCaller;
  readonly faults: FaultList;
  /** Names this simulator in `/healthz`; new at every start. */
  readonly instance: string;
  readonly closing: AbortSignal;
  readonly now: () => number;
}

export interface OpenState {
  readonly state: SimulatorState;
  close(): void;
}

/**
 * Creates the state of a simulator. With a state file, restores the intents in it and rewrites it.
 * @throws {IntentError} `invalid_configuration` if the file cannot be read or written
 */
export function openState(
  parts: Pick<SimulatorState, 'keyFiles' | 'webhooks' | 'closing' | 'now'>,
  owner: StateOwner,
  stateFile: string | undefined,
): OpenState {
  const file = stateFile === undefined ? undefined : new StateFile(stateFile, owner);
  const persisted = stateFile === undefined ? [] : readStateFile(stateFile);
  const intents: IntentStore = new IntentStore(capacity, file, persisted);
  const journal = new Journal(parts.now, (id) => intents.get(id) !== undefined);
  file?.write([], [], () => intents.recent(capacity).reverse());
  for (const { intent } of persisted) journal.add(intent.id, { kind: 'restored' });
  const faults = new FaultList(() => journal.notify());
  return {
    state: { ...parts, intents, journal, faults, instance: owner.instance },
    close: () => closeState(intents, file),
  };
}

function closeState(intents: IntentStore, file: StateFile | undefined): void {
  try {
    intents.save();
  } catch {
    // Successful calls are already saved. Only `webhook_called` messages can be lost.
  } finally {
    file?.close();
  }
}
