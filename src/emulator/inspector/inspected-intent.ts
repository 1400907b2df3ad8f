import { namedRendezvous } from '../../intents/verify-intent.js';
import { formatBase58, parseIntentId } from '../../keys/base58.js';
import { decode, v1 } from '../../wire/codec.js';
import { type CheckedSignature, checkIntent } from '../journal/checked-signatures.js';
import { type DescribedEntry, describeEntry, signaturesIn } from '../journal/describe-entry.js';
import type { Happening } from '../journal/happening.js';
import type { Trail } from '../journal/journal.js';
import type { MessageTree } from '../journal/message-tree.js';
import { intentTree } from '../journal/operation-codecs.js';
import type { IntentRecord } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { stateOf, summarizeRequest } from './intent-summary.js';

const shownCount = 1_000;

/** An intent as the inspector lists it. */
export interface ListedIntent extends Readonly<Record<string, unknown>> {
  readonly id: string;
  /** Ms since 1970: when it was created, or was about to be. */
  readonly createdAtMs: number;
}

/** A signature that was checked, and for which operations. */
type FoundSignature = CheckedSignature & { readonly operations: string[] };

/** An intent with everything that is known of it. */
export interface InspectedIntent extends ListedIntent {
  readonly request: MessageTree | undefined;
  readonly signatures: readonly FoundSignature[];
  readonly entries: readonly DescribedEntry[];
  /** Entries that had to make room. */
  readonly dropped: number;
}

/** The intents, and those that somebody has tried to create, the newest first. */
export function listIntents({ intents, journal }: SequencerState): ListedIntent[] {
  const records = intents.recent(shownCount).map((record) => listRecord(record, journal.trail(record.id)));
  const known = new Set(records.map(({ id }) => id));
  const others = journal.trails.filter((trail) => trail.id !== undefined && !known.has(trail.id)).map(listTrail);
  return [...records, ...others].sort((one, other) => other.createdAtMs - one.createdAtMs).slice(0, shownCount);
}

/** Undefined for one that nothing is known of. */
export function inspectIntent({ intents, journal }: SequencerState, id: string): InspectedIntent | undefined {
  const record = intents.get(id);
  const trail = journal.trail(id);
  if (!record) return trail && { ...listTrail(trail), ...describeTrail(trail), request: undefined };
  return {
    ...listRecord(record, trail),
    ...whoAndWhere(record),
    ...describeTrail(trail, signaturesOf(record)),
    request: intentTree(record.mailbox.request),
  };
}

/** What of a trail is shown, in the order in which it began. */
export function describeTrail(
  trail: Trail | undefined,
  created: readonly CheckedSignature[] = [],
): Pick<InspectedIntent, 'signatures' | 'entries' | 'dropped'> {
  const entries = [...(trail?.entries ?? [])].sort((one, other) => one.number - other.number);
  const checked = entries.flatMap(({ what }) => signaturesIn(what).map((one) => ({ ...one, operation: nameIn(what) })));
  const all = [...created.map((one) => ({ ...one, operation: 'Intents.createIntent' })), ...checked];
  return { signatures: collect(all), entries: entries.map(describeEntry), dropped: trail?.dropped ?? 0 };
}

function listRecord(record: IntentRecord, trail: Trail | undefined): ListedIntent {
  const { id, request, createdAtMs, marked } = record;
  const state = stateOf(record);
  return { id, ...summarizeRequest(request), state, createdAtMs, marked, refusals: refusalsIn(trail) };
}

function listTrail(trail: Trail): ListedIntent {
  const { id = '', startedAtMs: createdAtMs, entries } = trail;
  const creations = entries.map(({ what }) => what).filter(isCreation);
  const state = creations.some(({ refusal }) => !refusal) ? 'forgotten' : 'refused';
  const asked = creations.map(askedFor).find((one) => one !== undefined);
  return { id, kind: 'unknown', ...asked, state, createdAtMs, marked: false, refusals: refusalsIn(trail) };
}

type Call = Extract<Happening, { kind: 'call' }>;

const isCreation = (what: Happening): what is Call =>
  what.kind === 'call' && /^(?:Intents\.createIntent|Messaging\.sendMessage)$/.test(what.operation);

/** What a request says that it is for. Nothing of it was verified. */
function askedFor({ operation, request: { bytes } }: Call): Record<string, string> | undefined {
  try {
    if (!bytes) return undefined;
    const isBare = operation === 'Intents.createIntent';
    const message = isBare ? decode(v1.Message, bytes) : decode(v1.SendMessageRequest, bytes).message;
    const { requestToReceiveBill: payment, requestToLogin: login } = message ?? {};
    if (login) return { kind: 'login', domain: login.domain?.domain ?? '' };
    const { nativeAmount = 0, currency = '' } = payment?.exact ?? payment?.partial ?? {};
    return payment ? { kind: 'payment', amount: String(nativeAmount), currency: String(currency) } : undefined;
  } catch {
    return undefined;
  }
}

function refusalsIn(trail: Trail | undefined): number {
  return (trail?.entries ?? []).filter(({ what }) => 'refusal' in what && what.refusal).length;
}

function whoAndWhere({ request, payer, userId, webhookUrl }: IntentRecord): Record<string, string> {
  return {
    ...(request.kind === 'payment' && { destination: request.destination }),
    ...(request.login && { verifier: request.login.verifier }),
    ...(payer && { payer: formatBase58(payer) }),
    ...(userId && { userId: formatBase58(userId) }),
    ...(webhookUrl && { webhookUrl: webhookUrl.href }),
  };
}

/** Those with which it was created, also where that was before a restart. */
function signaturesOf({ id, signedBytes, mailbox: { request } }: IntentRecord): CheckedSignature[] {
  const message = v1.Message.create(request);
  const key = namedRendezvous(message) ?? parseIntentId(id);
  return checkIntent(message, key, request.sendMessageRequestSignature, signedBytes);
}

function nameIn(what: Happening): string {
  return what.kind === 'call' ? what.operation : 'Messaging.openMessageStream';
}

/** The same signer with the same outcome is told once. */
function collect(checked: readonly (CheckedSignature & { operation: string })[]): FoundSignature[] {
  const found = new Map<string, FoundSignature>();
  for (const { operation, ...signature } of checked) {
    const key = [signature.signer, signature.key, signature.outcome].join(' ');
    const known = found.get(key) ?? { ...signature, operations: [] };
    if (!known.operations.includes(operation)) known.operations.push(operation);
    found.set(key, known);
  }
  return [...found.values()];
}
