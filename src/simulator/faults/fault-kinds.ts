import * as z from 'zod';
import { IntentError } from '../../errors.js';
import { requireKnown } from '../../reject-unknown.js';
import { type SequencerOperation, sequencerOperationNames } from '../operations/request.js';

/** Describes a kind of fault and its settings. */
export interface FaultTraits {
  readonly title: string;
  /** For the inspector page. */
  readonly description: string;
  readonly group: 'connection' | 'slow' | 'wrong' | 'data';
  readonly when?: 'before' | 'after';
  readonly ms?: number;
  readonly httpStatus?: number;
  /** The kind applies to `pollMessages` and `openMessageStream` only. */
  readonly messagesOnly?: true;
}

/**
 * In the order of docs/testing-failures.md. To implement a kind, edit `corruptedEnvelope` in faulty-call.ts, or
 * `callFailureCodes` and `httpFailures` there; for message streams `corruptions` in faulty-stream.ts.
 */
const kinds = {
  disconnect: {
    title: 'Close the connection',
    description: 'Closes the connection without a response, like a service that crashes.',
    group: 'connection',
    when: 'before',
  },
  cut: {
    title: 'Cut the response',
    description: 'Sends half of the response, then closes the connection.',
    group: 'connection',
    when: 'before',
  },
  delay: {
    title: 'Delay the response',
    description: 'Delays the response. A caller that times out does not stop the operation.',
    group: 'slow',
    when: 'before',
    ms: 3_000,
  },
  drip: {
    title: 'Send the response slowly',
    description: 'Sends the response one byte at a time, with a delay before each byte.',
    group: 'slow',
    ms: 500,
  },
  error: {
    title: 'Answer with an error',
    description: 'Answers like a service that refuses the request.',
    group: 'wrong',
    when: 'before',
  },
  status: {
    title: 'Fail with an HTTP status',
    description: 'Answers with an HTTP status such as 500 or 503, like a failing server or proxy.',
    group: 'wrong',
    when: 'before',
    httpStatus: 503,
  },
  redirect: {
    title: 'Redirect',
    description: 'Answers with a redirect to the wallet page, like a gateway that requires a login.',
    group: 'wrong',
    when: 'before',
  },
  'wrong-content-type': {
    title: 'Answer with a web page',
    description: 'Answers 200 with HTML, like a captive portal or a maintenance page.',
    group: 'wrong',
    when: 'before',
  },
  garble: {
    title: 'Answer with garbage',
    description: 'Replaces the response with bytes that cannot be decoded.',
    group: 'wrong',
    when: 'before',
  },
  flood: {
    title: 'Send a huge response',
    description: 'Sends 64 megabytes. A client without a size limit holds it all in memory.',
    group: 'wrong',
    when: 'before',
  },
  forget: {
    title: 'Forget the intent',
    description: 'Answers, and then forgets the intent, like a service that lost its data.',
    group: 'data',
    when: 'after',
  },
  duplicate: {
    title: 'Deliver messages twice',
    description: 'Delivers each message of an intent twice.',
    group: 'data',
    messagesOnly: true,
  },
  reorder: {
    title: 'Deliver messages out of order',
    description: 'Delivers the messages of an intent in the wrong order.',
    group: 'data',
    messagesOnly: true,
  },
} as const satisfies Record<string, FaultTraits>;

/** The kind of a fault. */
export type FaultKind = keyof typeof kinds;

export const faultKinds: Readonly<Record<FaultKind, FaultTraits>> = kinds;
export const faultKindNames = Object.keys(kinds) as [FaultKind, ...FaultKind[]];

/** Settings of every fault. */
interface AnyFault<Kind extends FaultKind> {
  readonly kind: Kind;
  /** The operations that fail, including those of the simulated wallet. Default: all that the kind applies to. */
  readonly operations?: readonly SequencerOperation[] | undefined;
  /** Number of calls that fail, 1 to 1,000,000. Default: all, until the fault is cleared. */
  readonly times?: number | undefined;
}

interface TimedFault<Kind extends FaultKind> extends AnyFault<Kind> {
  /** `after`: the operation takes effect, then its response fails. Default `before`; for `forget`, `after`. */
  readonly when?: 'before' | 'after' | undefined;
}

interface DelayFault extends TimedFault<'delay'> {
  /** The delay, 1 to 600,000 milliseconds. Default 3000. */
  readonly ms?: number | undefined;
}

interface DripFault extends AnyFault<'drip'> {
  /** The delay before each byte, 1 to 600,000 milliseconds. Default 500. */
  readonly ms?: number | undefined;
}

interface StatusFault extends TimedFault<'status'> {
  /** 400 to 599. Default 503. */
  readonly httpStatus?: number | undefined;
}

interface DeliveryFault extends AnyFault<'duplicate' | 'reorder'> {
  /** The operations that fail. Default: both. */
  readonly operations?: readonly ('pollMessages' | 'openMessageStream')[] | undefined;
}

/**
 * A fault of the simulator; docs/testing-failures.md describes each kind. Of these, `disconnect`, `status`, `cut`, `delay`,
 * `error`, `garble`, `duplicate` and `reorder` also affect message streams.
 */
export type Fault =
  | TimedFault<'disconnect' | 'cut' | 'error' | 'redirect' | 'wrong-content-type' | 'garble' | 'flood' | 'forget'>
  | DelayFault
  | DripFault
  | StatusFault
  | DeliveryFault;

/** A fault with its defaults filled in. */
export interface ResolvedFault {
  readonly kind: FaultKind;
  readonly operations: readonly SequencerOperation[] | undefined;
  readonly when: 'before' | 'after';
  readonly times: number;
  readonly ms: number;
  readonly httpStatus: number;
}

const deliveringOperations: readonly SequencerOperation[] = ['pollMessages', 'openMessageStream'];

const schema = z.strictObject({
  kind: z.enum(faultKindNames),
  operations: z.array(z.enum(sequencerOperationNames)).min(1).optional(),
  when: z.enum(['before', 'after']).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
  ms: z.int().min(1).max(600_000).optional(),
  httpStatus: z.int().min(400).max(599).optional(),
});

/** @throws {IntentError} `invalid_request` names the first problem */
export function parseFault(fault: unknown): ResolvedFault {
  requireKnown('simulator.injectFault', fault, Object.keys(schema.shape));
  const { data, error } = schema.safeParse(fault);
  if (!data) {
    const { path, message } = error.issues[0] ?? { path: [], message: 'It cannot be read' };
    throw invalid(path.length > 0 ? `\`${path.join('.')}\`: ${message}` : message);
  }
  const { kind, times = Number.POSITIVE_INFINITY } = data;
  const traits = faultKinds[kind];
  for (const setting of ['when', 'ms', 'httpStatus'] as const) {
    if (data[setting] !== undefined && traits[setting] === undefined)
      throw invalid(`${kind} does not accept \`${setting}\`. Remove it`);
  }
  const { when = traits.when ?? 'after', ms = traits.ms ?? 0, httpStatus = traits.httpStatus ?? 500 } = data;
  return Object.freeze({ kind, operations: operationsOf(data), when, times, ms, httpStatus });
}

function operationsOf({ kind, operations }: z.infer<typeof schema>): readonly SequencerOperation[] | undefined {
  if (!faultKinds[kind].messagesOnly) return operations;
  const other = operations?.find((name) => !deliveringOperations.includes(name));
  if (other) throw invalid(`${kind} applies only to ${deliveringOperations.join(' and ')}. Remove ${other}`);
  return operations ?? deliveringOperations;
}

const invalid = (problem: string): IntentError => new IntentError('invalid_request', `Invalid fault. ${problem}.`);
