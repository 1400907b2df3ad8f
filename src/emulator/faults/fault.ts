import * as z from 'zod';
import { IntentError } from '../../errors.js';
import { type FaultKind, faultKindNames, faultKinds } from './fault-kinds.js';
import { deliveringOperations, type FaultyOperation, faultyOperationNames } from './faulty-operation.js';

/** What can be set about every fault. */
interface AnyFault<Kind extends FaultKind> {
  /** What it does. */
  readonly kind: Kind;
  /** The operations that fail. Default: all that the kind can concern, those that the simulated wallet calls among them. */
  readonly operations?: readonly FaultyOperation[] | undefined;
  /** How many calls fail, 1 to 1,000,000. Default: all, until the fault is ended. */
  readonly times?: number | undefined;
}

/** A fault that an operation meets before it has had its effect, or after that. */
interface TimedFault<Kind extends FaultKind> extends AnyFault<Kind> {
  /** Whether the operation has had its effect when it fails. Default `before`; of `forget` `after`. */
  readonly when?: 'before' | 'after' | undefined;
}

/** The answer comes late. */
interface DelayFault extends TimedFault<'delay'> {
  /** How long the caller waits, 1 to 600,000 milliseconds. Default 3000. */
  readonly ms?: number | undefined;
}

/** The answer comes byte by byte. */
interface DripFault extends AnyFault<'drip'> {
  /** How long the caller waits for each byte, 1 to 600,000 milliseconds. Default 500. */
  readonly ms?: number | undefined;
}

/** The answer is an HTTP status that is no success. */
interface StatusFault extends TimedFault<'status'> {
  /** 400 to 599. Default 503. */
  readonly httpStatus?: number | undefined;
}

/** Messages come twice, or in another order. */
interface DeliveryFault extends AnyFault<'duplicate' | 'reorder'> {
  /** The operations that fail. Default: both. */
  readonly operations?: readonly ('pollMessages' | 'openMessageStream')[] | undefined;
}

/**
 * A fault that the embedded sequencer is to have. What each kind does is in docs/testing.md. Over WebSocket, where message
 * streams are, it can have `refuse`, `status`, `cut`, `delay`, `error`, `garble`, `duplicate` and `reorder`; others leave
 * streams alone.
 */
export type Fault =
  | TimedFault<'refuse' | 'cut' | 'error' | 'redirect' | 'wrong-content-type' | 'garble' | 'flood' | 'forget'>
  | DelayFault
  | DripFault
  | StatusFault
  | DeliveryFault;

/** A fault with nothing left open. */
export interface SettledFault {
  readonly kind: FaultKind;
  /** Undefined for all. */
  readonly operations: readonly FaultyOperation[] | undefined;
  readonly when: 'before' | 'after';
  readonly times: number;
  readonly ms: number;
  readonly httpStatus: number;
}

const schema = z.strictObject({
  kind: z.enum(faultKindNames),
  operations: z.array(z.enum(faultyOperationNames)).min(1).optional(),
  when: z.enum(['before', 'after']).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
  ms: z.int().min(1).max(600_000).optional(),
  httpStatus: z.int().min(400).max(599).optional(),
});

/** @throws {IntentError} `invalid_request`, with what is wrong */
export function parseFault(fault: unknown): SettledFault {
  const { data, error } = schema.safeParse(fault);
  if (!data) {
    const { path, message } = error.issues[0] ?? { path: [], message: 'It cannot be read' };
    throw refused(path.length > 0 ? `its ${path.join('.')}: ${message}` : message);
  }
  const { kind, times = Number.POSITIVE_INFINITY } = data;
  const traits = faultKinds[kind];
  for (const setting of ['when', 'ms', 'httpStatus'] as const) {
    if (data[setting] !== undefined && traits[setting] === undefined) throw refused(`${kind} has no ${setting}`);
  }
  const { when = traits.when ?? 'after', ms = traits.ms ?? 0, httpStatus = traits.httpStatus ?? 500 } = data;
  return Object.freeze({ kind, operations: operationsOf(data), when, times, ms, httpStatus });
}

function operationsOf({ kind, operations }: z.infer<typeof schema>): readonly FaultyOperation[] | undefined {
  if (!faultKinds[kind].messagesOnly) return operations;
  const other = operations?.find((name) => !deliveringOperations.includes(name));
  if (other) throw refused(`${kind} is for ${deliveringOperations.join(' and ')}, not for ${other}`);
  return operations ?? deliveringOperations;
}

const refused = (problem: string): IntentError =>
  new IntentError('invalid_request', `This is no fault that the sequencer can have: ${problem}.`);
