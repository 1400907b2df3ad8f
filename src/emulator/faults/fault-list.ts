import { IntentError } from '../../errors.js';
import type { Operation } from '../../wire/envelope.js';
import { parseFault, type SettledFault } from './fault.js';
import type { FaultKind } from './fault-kinds.js';
import { operationNameOf } from './faulty-operation.js';

/** A fault that is on. */
export interface ActiveFault {
  readonly id: number;
  readonly fault: SettledFault;
  /** Calls that it will still meet; Infinity for all. */
  readonly timesLeft: number;
}

const capacity = 100;

/** The faults that are on, in the order in which they were switched on. At the start there are none. */
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

  /** Switches a fault on; gives its id. @throws {IntentError} `invalid_request` */
  add(given: unknown): number {
    const fault = parseFault(given);
    if (this.#active.length >= capacity) throw new IntentError('invalid_request', `${capacity} faults are on already.`);
    this.#lastId += 1;
    this.#set([...this.#active, { id: this.#lastId, fault, timesLeft: fault.times }]);
    return this.#lastId;
  }

  /** Ending what has ended is fine. */
  end(id: number): void {
    this.#set(this.#active.filter((one) => one.id !== id));
  }

  endAll(): void {
    this.#set([]);
  }

  /**
   * The fault that a call meets, if any: the oldest that concerns it, so that several come one after the other.
   * @param kinds those that are possible on the way the call came; by default all
   */
  take(operation: Operation, kinds?: readonly FaultKind[]): SettledFault | undefined {
    const name = operationNameOf(operation);
    const met = this.#active.find(
      ({ fault: { kind, operations } }) =>
        (!operations || (name && operations.includes(name))) && (!kinds || kinds.includes(kind)),
    );
    if (!met) return undefined;
    const left = this.#active.map((one) => (one === met ? { ...one, timesLeft: one.timesLeft - 1 } : one));
    this.#set(left.filter(({ timesLeft }) => timesLeft > 0));
    return met.fault;
  }

  #set(active: readonly ActiveFault[]): void {
    this.#active = active;
    this.#onChange();
  }
}
