import { IntentError } from '../../errors.js';
import type { Operation } from '../../wire/envelope.js';
import { sequencerOperationOf } from '../operations/request.js';
import { type FaultKind, parseFault, type ResolvedFault } from './fault-kinds.js';

export interface ActiveFault {
  readonly id: number;
  readonly fault: ResolvedFault;
  readonly timesLeft: number;
}

const capacity = 100;

/** The active faults, the oldest first. A fault is active until it has failed `times` calls or is cleared. */
export class FaultList {
  #active: readonly ActiveFault[] = [];
  #lastId = 0;
  readonly #onChange: () => void;

  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  get active(): readonly ActiveFault[] {
    return this.#active;
  }

  /** Injects a fault and returns its id. @throws {IntentError} `invalid_request` */
  add(given: unknown): number {
    const fault = parseFault(given);
    if (this.#active.length >= capacity) {
      throw new IntentError('invalid_request', `The limit of ${capacity} active faults is reached. Clear some first.`);
    }
    this.#lastId += 1;
    this.#set([...this.#active, { id: this.#lastId, fault, timesLeft: fault.times }]);
    return this.#lastId;
  }

  clear(id: number): void {
    this.#set(this.#active.filter((one) => one.id !== id));
  }

  clearAll(): void {
    this.#set([]);
  }

  /** Counts a call for the oldest fault that applies to it, and returns that fault. @param kinds of the transport; default all */
  consume(operation: Operation, kinds?: readonly FaultKind[]): ResolvedFault | undefined {
    const name = sequencerOperationOf(operation);
    const applied = this.#active.find(
      ({ fault: { kind, operations } }) =>
        (!operations || (name && operations.includes(name))) && (!kinds || kinds.includes(kind)),
    );
    if (!applied) return undefined;
    const active = this.#active.map((one) => (one === applied ? { ...one, timesLeft: one.timesLeft - 1 } : one));
    this.#set(active.filter(({ timesLeft }) => timesLeft > 0));
    return applied.fault;
  }

  #set(active: readonly ActiveFault[]): void {
    this.#active = active;
    this.#onChange();
  }
}
