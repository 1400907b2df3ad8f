import { IntentError } from '../../errors.js';
import type { Operation } from '../../wire/envelope.js';
import { operationNameOf } from '../operations/request.js';
import { type FaultKind, parseFault, type SettledFault } from './fault.js';

/** An injected fault. */
export interface ActiveFault {
  readonly id: number;
  readonly fault: SettledFault;
  /** Calls that will still fail; Infinity for all. */
  readonly timesLeft: number;
}

const capacity = 100;

/** The active faults, in the order of their injection. A fault is active until it was taken `times` times, or is cleared. */
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
      throw new IntentError('invalid_request', `${capacity} faults are active already. Clear some first.`);
    }
    this.#lastId += 1;
    this.#set([...this.#active, { id: this.#lastId, fault, timesLeft: fault.times }]);
    return this.#lastId;
  }

  /** Idempotent. */
  clear(id: number): void {
    this.#set(this.#active.filter((one) => one.id !== id));
  }

  clearAll(): void {
    this.#set([]);
  }

  /**
   * Takes the fault for a call, if any: the oldest that applies, so that several apply one after the other.
   * @param kinds the kinds that the transport of the call supports; default all
   */
  take(operation: Operation, kinds?: readonly FaultKind[]): SettledFault | undefined {
    const name = operationNameOf(operation);
    const taken = this.#active.find(
      ({ fault: { kind, operations } }) =>
        (!operations || (name && operations.includes(name))) && (!kinds || kinds.includes(kind)),
    );
    if (!taken) return undefined;
    const left = this.#active.map((one) => (one === taken ? { ...one, timesLeft: one.timesLeft - 1 } : one));
    this.#set(left.filter(({ timesLeft }) => timesLeft > 0));
    return taken.fault;
  }

  #set(active: readonly ActiveFault[]): void {
    this.#active = active;
    this.#onChange();
  }
}
