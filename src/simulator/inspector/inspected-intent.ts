import { formatAmount } from '../../intents/money.js';
import { type IntentRequest, rendezvousKeyIn } from '../../intents/verify-intent.js';
import { formatBase58, parseIntentId } from '../../keys/base58.js';
import { decode, v1 } from '../../wire/codec.js';
import type { Timeline } from '../journal/journal.js';
import type { JournalRecord } from '../journal/journal-record.js';
import { type StoredIntent, stateOf } from '../state/intent-store.js';
import type { SimulatorState } from '../state/simulator-state.js';
import type { Wallet } from '../wallet/wallet.js';
import { type CheckedSignature, checkIntentSignatures } from './check-signatures.js';
import { checkedSignaturesOf, type DescribedEntry, describeEntry } from './describe-entry.js';
import { intentTree, type MessageTree } from './message-tree.js';

const shownCount = 1_000;

export interface ListedIntent extends Readonly<Record<string, unknown>> {
  readonly id: string;
  /** Time of its creation, or of the refused request to create it, ms since 1970. */
  readonly createdAtMs: number;
}

type FoundSignature = CheckedSignature & { readonly operations: string[] };

export interface InspectedIntent extends ListedIntent {
  readonly request: MessageTree | undefined;
  readonly signatures: readonly FoundSignature[];
  readonly entries: readonly DescribedEntry[];
  readonly dropped: number;
}

/** The intents, including those whose creation was refused, the newest first. */
export function listInspectedIntents({ intents, journal }: SimulatorState): ListedIntent[] {
  const stored = intents.recent(shownCount).map((intent) => listStored(intent, journal.timeline(intent.id)));
  const others = journal.timelines.filter(({ id }) => id !== undefined && !intents.get(id)).map(listTimeline);
  return [...stored, ...others].sort((one, other) => other.createdAtMs - one.createdAtMs).slice(0, shownCount);
}

export function inspectIntent(
  { intents, journal }: SimulatorState,
  id: string,
  wallets: readonly Wallet[],
): InspectedIntent | undefined {
  const intent = intents.get(id);
  const timeline = journal.timeline(id);
  if (!intent) return timeline && { ...listTimeline(timeline), ...describeTimeline(timeline), request: undefined };
  return {
    ...listStored(intent, timeline),
    ...partiesOf(intent, wallets),
    ...describeTimeline(timeline, signaturesOf(intent)),
    request: intentTree(intent.mailbox.request),
  };
}

/** The signatures and entries of a timeline, in the order in which they started. */
export function describeTimeline(
  timeline: Timeline | undefined,
  created: readonly CheckedSignature[] = [],
): Pick<InspectedIntent, 'signatures' | 'entries' | 'dropped'> {
  const entries = [...(timeline?.entries ?? [])].sort((one, other) => one.number - other.number);
  const checked = entries.flatMap(({ record }) =>
    checkedSignaturesOf(record).map((signature) => ({ ...signature, operation: operationOf(record) })),
  );
  // Any dialect may have created the intent, and the journal is empty after a restart.
  const direct = 'Intents.createIntent';
  const operation = checked.some((each) => each.operation === direct) ? direct : 'creation';
  const all = [...created.map((signature) => ({ ...signature, operation })), ...checked];
  return { signatures: mergeSignatures(all), entries: entries.map(describeEntry), dropped: timeline?.dropped ?? 0 };
}

function summarizeRequest(request: IntentRequest): Record<string, string> {
  if (request.kind === 'login') return { kind: 'login', domain: request.login.domain };
  const { money, login } = request;
  const payment = { kind: 'payment', amount: formatAmount(money), currency: money.currency };
  return login ? { ...payment, domain: login.domain } : payment;
}

function listStored(intent: StoredIntent, timeline: Timeline | undefined): ListedIntent {
  const { id, request, createdAtMs } = intent;
  const state = stateOf(intent);
  return { id, ...summarizeRequest(request), state, createdAtMs, refusals: refusalsIn(timeline) };
}

/** An intent that is not in the store: its creation was refused, or a fault made the simulator forget it. */
function listTimeline(timeline: Timeline): ListedIntent {
  const { id = '', startedAtMs: createdAtMs, entries } = timeline;
  const creates = entries.map(({ record }) => record).filter(isCreate);
  const state = creates.some(({ refusal }) => !refusal) ? 'forgotten' : 'refused';
  const terms = creates.map(unverifiedTerms).find((found) => found !== undefined);
  return { id, kind: 'unknown', ...terms, state, createdAtMs, refusals: refusalsIn(timeline) };
}

type Call = Extract<JournalRecord, { kind: 'call' }>;

const isCreate = (record: JournalRecord): record is Call =>
  record.kind === 'call' && /^(?:Intents\.createIntent|Messaging\.sendMessage)$/.test(record.operation);

function unverifiedTerms({ operation, request: { bytes } }: Call): Record<string, string> | undefined {
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

function refusalsIn(timeline: Timeline | undefined): number {
  return (timeline?.entries ?? []).filter(({ record }) => 'refusal' in record && record.refusal).length;
}

/** The keys of an intent, with the names of the simulated wallets that have them. */
function partiesOf(
  { request, payer, userId, webhookUrl }: StoredIntent,
  wallets: readonly Wallet[],
): Record<string, string | undefined> {
  const payerKey = payer && formatBase58(payer);
  const userKey = userId && formatBase58(userId);
  const domain = request.login?.domain;
  return {
    ...(request.kind === 'payment' && { destination: request.destination }),
    ...(request.login && { verifier: request.login.verifier }),
    payer: payerKey,
    payerName: payerKey && wallets.find(({ account }) => account === payerKey)?.name,
    userId: userKey,
    userName: userKey && domain && wallets.find((wallet) => wallet.userId(domain) === userKey)?.name,
    ...(webhookUrl && { webhookUrl: webhookUrl.href }),
  };
}

/** The signatures of the request that created the intent. The journal does not have them after a restart. */
function signaturesOf({ id, signedBytes, mailbox: { request } }: StoredIntent): CheckedSignature[] {
  const message = new v1.Message(request);
  const key = rendezvousKeyIn(message) ?? parseIntentId(id);
  return checkIntentSignatures(message, key, request.sendMessageRequestSignature, signedBytes);
}

function operationOf(record: JournalRecord): string {
  return record.kind === 'call' ? record.operation : 'Messaging.openMessageStream';
}

function mergeSignatures(checked: readonly (CheckedSignature & { operation: string })[]): FoundSignature[] {
  const found = new Map<string, FoundSignature>();
  for (const { operation, ...signature } of checked) {
    const key = [signature.signer, signature.key, signature.outcome].join(' ');
    const known = found.get(key) ?? { ...signature, operations: [] };
    if (!known.operations.includes(operation)) known.operations.push(operation);
    found.set(key, known);
  }
  return [...found.values()];
}
