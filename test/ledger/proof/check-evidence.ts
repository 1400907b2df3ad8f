import type { IntentState } from '../../../src/ledger/ledger.js';
import type { EffectEvidence, Evidence, IntentEvidence, SequencerEvent, StepEvidence } from './evidence.js';

// The invariants of every run, whatever its faults. They are written independently of the code of the ledger.

export type FaultKind =
  | 'lost record'
  | 'changed terms'
  | 'illegal step'
  | 'broken path'
  | 'unconfirmed payment'
  | 'unconfirmed reversal'
  | 'settled twice'
  | 'missing effect'
  | 'doubled effect'
  | 'wrong effect'
  | 'unauthorized effect'
  | 'unscheduled payment'
  | 'lost payment'
  | 'unpaid settlement';

export interface FoundFault {
  readonly kind: FaultKind;
  readonly id: string;
  readonly detail: string;
}

const legalSteps: Readonly<Record<IntentState, readonly IntentState[]>> = {
  creating: ['created'],
  created: ['completed', 'submitted', 'expired'],
  completed: ['created'],
  submitted: ['settled', 'created', 'dead'],
  settled: ['reversed', 'dead'],
  reversed: ['created'],
  expired: ['created', 'submitted'],
  dead: ['submitted', 'settled'],
};

/** The evidence of one intent. */
interface Story {
  readonly id: string;
  readonly readAt: number;
  readonly row: IntentEvidence | undefined;
  readonly steps: readonly StepEvidence[];
  readonly events: readonly SequencerEvent[];
  readonly effects: readonly EffectEvidence[];
}

type Rule = (story: Story) => Iterable<readonly [FaultKind, string]>;

/**
 * Finds violated invariants in the evidence of a run.
 * @param isComplete whether all polls were done before the end of the run: then every paid intent must be settled
 */
export function checkEvidence(evidence: Evidence, { isComplete }: { readonly isComplete: boolean }): FoundFault[] {
  const rules = isComplete ? [...always, paidIsSettled] : always;
  return storiesOf(evidence).flatMap((story) =>
    rules.flatMap((rule) => [...rule(story)].map(([kind, detail]) => ({ kind, id: story.id, detail }))),
  );
}

function storiesOf({ readAt = Number.POSITIVE_INFINITY, sequencer, intents, steps, effects }: Evidence): Story[] {
  const by = <Item extends { readonly id: string }>(items: readonly Item[]): Map<string, Item[]> => {
    const map = new Map<string, Item[]>();
    for (const item of items) map.set(item.id, [...(map.get(item.id) ?? []), item]);
    return map;
  };
  const [events, rows, changes, written] = [by(sequencer), by(intents), by(steps), by(effects)];
  const ids = new Set([...events.keys(), ...rows.keys(), ...changes.keys(), ...written.keys()]);
  return [...ids].map((id) => ({
    id,
    readAt,
    row: rows.get(id)?.[0],
    steps: changes.get(id) ?? [],
    events: events.get(id) ?? [],
    effects: written.get(id) ?? [],
  }));
}

/** Whether two objects are equal as JSON, regardless of the order of members. */
function isSame(one: object, other: object): boolean {
  const inOrder = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1)))
      : value;
  return JSON.stringify(one, inOrder) === JSON.stringify(other, inOrder);
}

// ---- The rules ----

/** Every intent whose secret was returned is recorded, with the terms that the sequencer knows. */
const recordIsKept: Rule = function* ({ readAt, row, events }) {
  const created = events.find((event) => event.what === 'created');
  if (!row && events.some(({ what, at }) => what === 'secret returned' && at < readAt))
    yield ['lost record', 'its secret was returned'];
  if (!row || !created) return;
  const { amount, currency, destination, description, login, resource, metadata } = row;
  const kept = { amount, currency, destination, description, login, resource, metadata };
  if (!isSame(kept, { ...created.terms })) {
    yield ['changed terms', `${JSON.stringify(created.terms)} became ${JSON.stringify(kept)}`];
  }
};

/** The steps lead from the first state to the state of the row, and each is legal. */
const pathIsLegal: Rule = function* ({ row, steps }) {
  for (const { from, to } of steps) if (!legalSteps[from].includes(to)) yield ['illegal step', `${from} > ${to}`];
  for (const [index, { from, at }] of steps.entries()) {
    const before = steps[index - 1];
    const isJoined = before ? before.to === from : from === 'creating' || from === 'created';
    if (!isJoined) yield ['broken path', `step ${index + 1} begins with ${from}`];
    if (before && before.at > at) yield ['broken path', `step ${index + 1} is older than the one before`];
  }
  const last = steps.at(-1)?.to;
  if (!row && steps.length > 0) yield ['broken path', 'there are steps and no row'];
  if (row && last !== undefined && last !== row.state)
    yield ['broken path', `${last} in the end, and now ${row.state}`];
  if (row && last === undefined && row.state !== 'creating' && row.state !== 'created') {
    yield ['broken path', `${row.state} without a step`];
  }
};

/** The status responses of the sequencer in an interval. */
function answersBetween(story: Story, after: number, until: number): string[] {
  return story.events.flatMap((event) =>
    event.what === 'answered' && event.at >= after && event.at <= until ? [event.answer] : [],
  );
}

/** Submissions and reversals follow only from status responses to this ledger. */
const sequencerConfirmed: Rule = function* (story) {
  for (const [index, { from, to, at }] of story.steps.entries()) {
    const answers = answersBetween(story, story.steps[index - 1]?.at ?? 0, at);
    const [yes, no] = ['submitted', 'not submitted'].map(
      (status) => answers.filter((answer) => answer === status).length,
    );
    if (from === 'created' && to === 'submitted' && !yes)
      yield ['unconfirmed payment', 'the sequencer did not report it as submitted'];
    if (from === 'submitted' && to === 'created' && !no)
      yield ['unconfirmed reversal', 'the sequencer did not report it as unpaid'];
    // The sequencer must report a reversal twice. In between, a hook may have become a dead letter and been retried.
    const settledAt = story.steps.findLast((step, before) => before < index && step.from === 'submitted')?.at ?? 0;
    const noes = answersBetween(story, settledAt, at).filter((answer) => answer === 'not submitted').length;
    if (to === 'reversed' && noes < 2) yield ['unconfirmed reversal', `reversed after ${noes} reports`];
  }
};

/** There is a reversal between two settlements. */
const settledOnce: Rule = function* ({ steps }) {
  let isSettled = false;
  for (const { from, to } of steps) {
    if (from === 'submitted' && to === 'settled') {
      if (isSettled) yield ['settled twice', 'without a reversal in between'];
      isSettled = true;
    }
    if (to === 'reversed') isSettled = false;
  }
};

/** Each settlement, reversal and login has one effect, with the recorded terms. */
const effectsAreExact: Rule = function* ({ row, steps, events, effects }) {
  const due: Readonly<Record<EffectEvidence['by'], number>> = {
    onPaid: steps.filter(({ from, to }) => to === 'settled' && from !== 'dead').length,
    onReversed: steps.filter(({ to }) => to === 'reversed').length,
    login: row?.loginCompletedAt === undefined ? 0 : 1,
  };
  for (const [by, expected] of Object.entries(due)) {
    const found = effects.filter((effect) => effect.by === by).length;
    if (found < expected) yield ['missing effect', `${by}: ${found} of ${expected}`];
    if (found > expected) yield ['doubled effect', `${by}: ${found} instead of ${expected}`];
  }
  for (const { by, amount, currency, metadata } of effects) {
    const recorded = { amount: row?.amount, currency: row?.currency, metadata: row?.metadata };
    if (row && by !== 'login' && !isSame({ amount, currency, metadata }, recorded)) {
      yield ['wrong effect', JSON.stringify({ amount, currency, metadata })];
    }
  }
  const isOut = events.some(({ what }) => what === 'secret returned');
  if (effects.length > 0 && !(row && isOut)) yield ['unauthorized effect', 'its secret was not returned'];
};

/** Every created or submitted payment is due at some time. */
const pollIsScheduled: Rule = function* ({ row }) {
  if (row?.kind !== 'payment' || row.isDue) return;
  if (row.state === 'created' || row.state === 'submitted')
    yield ['unscheduled payment', `${row.state}, and never due`];
};

const always: readonly Rule[] = [
  recordIsKept,
  pathIsLegal,
  sequencerConfirmed,
  settledOnce,
  effectsAreExact,
  pollIsScheduled,
];

/** At the end the ledger agrees with the sequencer, unless the watch ended before the last change. */
const paidIsSettled: Rule = function* ({ row, steps, events }) {
  const turn = events.findLast(({ what }) => what === 'paid' || what === 'reversed');
  const isPaid = turn?.what === 'paid';
  const state = row?.state ?? 'missing';
  const last = steps.at(-1);
  const watchEnded = (state === 'expired' || state === 'reversed') && !row?.isDue;
  const wasWatched = !(last && watchEnded && (turn?.at ?? 0) > last.at);
  if (isPaid && state !== 'settled' && wasWatched) yield ['lost payment', `paid, and ${state}`];
  if (!isPaid && (state === 'settled' || state === 'submitted') && wasWatched) yield ['unpaid settlement', state];
};
