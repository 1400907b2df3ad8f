import { submitPayment } from '../../wire/emulator-codec.js';
import { type Operation, operations } from '../../wire/envelope.js';

const known = { ...operations, submitPayment } as const;

/** An operation of the interface, or the call by which the simulated wallet pays. */
export type FaultyOperation = keyof typeof known;

export const faultyOperationNames = Object.keys(known) as [FaultyOperation, ...FaultyOperation[]];

/** Those that deliver the messages of a rendezvous. */
export const deliveringOperations: readonly FaultyOperation[] = ['pollMessages', 'openMessageStream'];

/** The name of an operation as the envelope has it; undefined for one that there is not. */
export function operationNameOf({ service, method }: Operation): FaultyOperation | undefined {
  return faultyOperationNames.find((name) => known[name].service === service && known[name].method === method);
}
