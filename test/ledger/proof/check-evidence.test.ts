import { isDeepStrictEqual } from 'node:util';
import { checkEvidence, type FaultKind } from './check-evidence.js';
import type { EffectEvidence, Evidence, IntentEvidence, SequencerEvent, StepEvidence } from './evidence.js';

// Each rule accepts correct evidence, and finds one planted fault.

const terms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: 'tea',
  login: false,
  resource: undefined,
  metadata: { order: 42 },
};
const id = 'a';

/** Each time is the position in the history. */
const path = (...states: string[]): StepEvidence[] =>
  states.slice(1).map((to, index) => ({ id, at: (index + 1) * 10, from: states[index], to }) as StepEvidence);
const answered = (at: number, answer: 'submitted' | 'not submitted' | 'unknown' | 'nothing'): SequencerEvent => ({
  ...({ what: 'answered', id } as const),
  at,
  answer,
});
const created: SequencerEvent = { what: 'created', id, at: 1, terms };
const out: SequencerEvent = { what: 'secret returned', id, at: 2 };
const paid = (at: number): SequencerEvent => ({ what: 'paid', id, at });
const reversedEvent = (at: number): SequencerEvent => ({ what: 'reversed', id, at });
const row = (state: IntentEvidence['state'], rest: Partial<IntentEvidence> = {}): IntentEvidence => ({
  ...{ ...terms, id, kind: 'payment', state, isDue: true },
  ...{ submittedAt: undefined, settledAt: undefined, reversedAt: undefined, loginCompletedAt: undefined },
  ...rest,
});
const effect = (by: EffectEvidence['by'], rest: Partial<EffectEvidence> = {}): EffectEvidence => ({
  ...{ id, by, worker: 'one', amount: '4.50', currency: 'usd', metadata: { order: 42 } },
  ...rest,
});

const settled: Evidence = {
  sequencer: [created, out, answered(3, 'not submitted'), paid(4), answered(5, 'nothing'), answered(9, 'submitted')],
  intents: [row('settled')],
  steps: path('created', 'submitted', 'settled'),
  effects: [effect('onPaid')],
};
const reversed: Evidence = {
  sequencer: [...settled.sequencer, reversedEvent(21), answered(22, 'not submitted'), answered(23, 'not submitted')],
  intents: [row('reversed', { isDue: false })],
  steps: path('created', 'submitted', 'settled', 'reversed'),
  effects: [effect('onPaid'), effect('onReversed')],
};

const login: Evidence = {
  sequencer: [out],
  intents: [row('created', { kind: 'login', isDue: false })],
  ...{ steps: [], effects: [] },
};
const completedLogin: Evidence = {
  ...login,
  steps: path('created', 'completed'),
  intents: [row('completed', { kind: 'login', isDue: false, loginCompletedAt: 3 })],
  effects: [effect('login', { amount: undefined, currency: undefined })],
};

const kindsIn = (evidence: Evidence, isComplete = true): FaultKind[] =>
  checkEvidence(evidence, { isComplete }).map(({ kind }) => kind);

describe('checkEvidence finds no fault in', () => {
  // The proofs show that other sound evidence has no fault.
  it.each(Object.entries({ settled, reversed, login, completedLogin }))('a sound history: %s', (_title, evidence) => {
    expect(kindsIn(evidence)).toEqual([]);
  });

  it('a secret that is returned while the database is read', () => {
    const nothing = { intents: [], steps: [], effects: [] };
    expect(kindsIn({ ...nothing, sequencer: [created, out], readAt: out.at })).toEqual([]);
    expect(kindsIn({ ...nothing, sequencer: [created, out], readAt: out.at + 1 })).toEqual(['lost record']);
  });

  it('a paid intent that is open before the end of the run', () => {
    const waiting: Evidence = { ...settled, intents: [row('created')], steps: [], effects: [] };
    expect(kindsIn(waiting, false)).toEqual([]);
    expect(kindsIn(waiting)).toEqual(['lost payment']);
  });
});

interface Case {
  readonly title: string;
  readonly kinds: readonly FaultKind[];
  readonly evidence: Evidence;
}

/** @param kinds the fault and its consequences */
const finds = (title: string, kinds: FaultKind[], evidence: Evidence): Case => ({ title, kinds, evidence });

const withSteps = (evidence: Evidence, ...states: string[]): Evidence => ({ ...evidence, steps: path(...states) });
const withRow = (evidence: Evidence, intent: IntentEvidence): Evidence => ({ ...evidence, intents: [intent] });
const withEffects = (evidence: Evidence, ...effects: EffectEvidence[]): Evidence => ({ ...evidence, effects });
/** @param rest additional events of the sequencer */
const withoutEvent = (evidence: Evidence, event: SequencerEvent, ...rest: SequencerEvent[]): Evidence => ({
  ...evidence,
  sequencer: [...evidence.sequencer.filter((one) => !isDeepStrictEqual(one, event)), ...rest],
});

const cases: readonly Case[] = [
  finds('a returned secret without a row', ['lost record', 'lost payment'], {
    ...{ sequencer: settled.sequencer, intents: [], steps: [], effects: [] },
  }),
  finds('another amount', ['changed terms', 'wrong effect'], withRow(settled, row('settled', { amount: '0.05' }))),
  finds('a settlement without a submission', ['illegal step'], withSteps(settled, 'created', 'settled')),
  finds('a missing first step', ['broken path'], { ...settled, steps: settled.steps.slice(1) }),
  finds('steps without a row', ['broken path', 'lost record', 'unauthorized effect', 'lost payment'], {
    ...settled,
    intents: [],
  }),
  finds(
    'a submission that the sequencer never reported',
    ['unconfirmed payment'],
    withoutEvent(settled, answered(9, 'submitted')),
  ),
  finds('a second submission without a second report', ['unconfirmed payment'], {
    ...withSteps(settled, 'created', 'submitted', 'created', 'submitted', 'settled'),
    sequencer: [...settled.sequencer, answered(15, 'not submitted')],
  }),
  finds(
    'a reversal that the sequencer reported once',
    ['unconfirmed reversal'],
    withoutEvent(reversed, answered(23, 'not submitted')),
  ),
  finds('a reversal that the sequencer reported only before the settlement', ['unconfirmed reversal'], {
    ...reversed,
    sequencer: [...settled.sequencer, reversedEvent(11), answered(12, 'not submitted'), answered(13, 'not submitted')],
  }),
  finds('a dead letter of onReversed retried as one of onPaid', ['settled twice'], {
    ...withSteps(settled, 'created', 'submitted', 'settled', 'dead', 'submitted', 'settled'),
    effects: [effect('onPaid'), effect('onPaid')],
  }),
  finds('a settlement without an effect', ['missing effect'], withEffects(settled)),
  finds('a doubled effect', ['doubled effect'], withEffects(settled, effect('onPaid'), effect('onPaid'))),
  finds(
    'a doubled effect of a login',
    ['doubled effect'],
    withEffects(completedLogin, effect('login'), effect('login')),
  ),
  finds('an effect with another amount', ['wrong effect'], withEffects(settled, effect('onPaid', { amount: '45.00' }))),
  finds('an effect of an intent whose secret was not returned', ['unauthorized effect'], withoutEvent(settled, out)),
  finds('an open payment that is never due', ['unscheduled payment'], {
    ...{ sequencer: [created, out], intents: [row('created', { isDue: false })], steps: [], effects: [] },
  }),
  finds('a paid intent that stays a dead letter', ['lost payment'], {
    ...withSteps(settled, 'created', 'submitted', 'dead'),
    ...{ intents: [row('dead', { isDue: false })], effects: [] },
  }),
  finds('a reversed payment that is settled', ['unpaid settlement'], {
    ...settled,
    sequencer: [...settled.sequencer, reversedEvent(30)],
  }),
];

describe('checkEvidence finds', () => {
  it.each(cases)('$title: $kinds', ({ kinds, evidence }) => {
    expect(new Set(kindsIn(evidence))).toEqual(new Set(kinds));
  });

  it('each kind of fault', () => {
    expect(new Set(cases.flatMap(({ kinds }) => kinds)).size).toBe(14);
  });

  it('only the intent that has the fault', () => {
    const asB = <Item extends { id: string }>(items: readonly Item[]): Item[] =>
      items.map((item) => ({ ...item, id: 'b' }));
    const both: Evidence = {
      sequencer: [...settled.sequencer, ...asB(settled.sequencer)],
      intents: [...settled.intents, ...asB(settled.intents)],
      steps: [...settled.steps, ...asB(settled.steps)],
      effects: settled.effects,
    };
    expect(checkEvidence(both, { isComplete: true })).toMatchObject([{ kind: 'missing effect', id: 'b' }]);
  });
});
