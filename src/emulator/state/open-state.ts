import { FaultList } from '../faults/fault-list.js';
import { Journal } from '../journal/journal.js';
import { IntentStore } from './intent-store.js';
import type { SequencerState } from './sequencer-state.js';
import { readStateFile, StateFile } from './state-file.js';
import type { StateOwner } from './state-owner.js';

const capacity = 10_000;

/** The state of a sequencer that starts, and what ends it. */
export interface OpenState {
  readonly state: SequencerState;
  /** Writes what is not written yet. */
  close(): void;
}

/**
 * Makes the state; with a file, from what is in it, which is written anew.
 * @throws {IntentError} `invalid_configuration` where the file cannot be read or written
 */
export async function openState(
  parts: Pick<SequencerState, 'keyFiles' | 'webhooks' | 'closing' | 'now'>,
  owner: StateOwner,
  stateFile: string | undefined,
): Promise<OpenState> {
  const file = stateFile === undefined ? undefined : new StateFile(stateFile, owner);
  const kept = stateFile === undefined ? [] : readStateFile(stateFile);
  const intents: IntentStore = new IntentStore(capacity, file, kept);
  const journal = new Journal(parts.now, (id) => intents.get(id) !== undefined);
  file?.write([], [], () => intents.recent(capacity).reverse());
  for (const { intent } of kept) journal.note(intent.id, { kind: 'kept' });
  const state = { ...parts, intents, journal, faults: new FaultList(() => journal.touch()), instance: owner.instance };
  return { state, close: () => closeState(intents, file) };
}

function closeState(intents: IntentStore, file: StateFile | undefined): void {
  try {
    intents.save();
  } catch {
    // What was answered is written. The rest is a message or two that could be written no more.
  } finally {
    file?.close();
  }
}
