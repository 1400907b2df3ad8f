import { isDeepStrictEqual } from 'node:util';
import { checkEvidence, type FaultKind } from './check-evidence.js';
import type { EffectEvidence, Evidence, IntentEvidence, SequencerEvent, StepEvidence } from './evidence.js';

// Each rule is seen to pass what is right, and to find one thing that is wrong.

const terms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  login: false,
  resource: undefined,
  metadata: { order: 42 },
};
const id = 'a';

/** The times of events and steps are their places in the story. */
const path = (...states: string[]): StepEvidence[] =>
  states.slice(1).map((to, index) => ({ id, at: (index + 1) * 10, from: states[index], to }) as StepEvidence);
const said = (at: number, answer: 'submitted' | 'not submitted' | 'unknown' | 'nothing'): SequencerEvent => ({
  ...({ what: 'said', id } as const),
  at,
  said: answer,
});
const created: SequencerEvent = { what: 'created', id, at: 1, terms };
const out: SequencerEvent = { what: 'handed out', id, at: 2 };
const paid = (at: number): SequencerEvent => ({ what: 'paid', id, at });
const takenBack = (at: number): SequencerEvent => ({ what: 'taken back', id, at });
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
  sequencer: [created, out, said(3, 'not submitted'), paid(4), said(5, 'nothing'), said(9, 'submitted')],
  intents: [row('settled')],
  steps: path('open', 'submitted', 'settled'),
  effects: [effect('onPaid')],
};
const reversed: Evidence = {
  sequencer: [...settled.sequencer, takenBack(21), said(22, 'not submitted'), said(23, 'not submitted')],
  intents: [row('reversed', { isDue: false })],
  steps: path('open', 'submitted', 'settled', 'reversed'),
  effects: [effect('onPaid'), effect('onReversed')],
};

const login: Evidence = {
  sequencer: [out],
  intents: [row('open', { kind: 'login', isDue: false })],
  ...{ steps: [], effects: [] },
};
const completedLogin: Evidence = {
  ...login,
  intents: [row('open', { kind: 'login', isDue: false, loginCompletedAt: 3 })],
  effects: [effect('login', { amount: undefined, currency: undefined })],
};

const kindsIn = (evidence: Evidence, isOver = true): FaultKind[] =>
  checkEvidence(evidence, { isOver }).map(({ kind }) => kind);

describe('evidence without a fault', () => {
  const sound: Record<string, Evidence> = {
    'of a payment that settled': settled,
    'of one that was reserved first': {
      ...settled,
      sequencer: [...settled.sequencer, said(15, 'submitted')],
      steps: path('creating', 'open', 'submitted', 'settled'),
    },
    'of one that nobody paid': { sequencer: [created, out], intents: [row('open')], steps: [], effects: [] },
    'of one that never left the server': { sequencer: [created], intents: [], steps: [], effects: [] },
    'of one that was reversed': reversed,
    'of one that was reversed, watched again and paid again': {
      sequencer: [...reversed.sequencer, paid(41), said(45, 'submitted')],
      intents: [row('settled')],
      steps: path('open', 'submitted', 'settled', 'reversed', 'open', 'submitted', 'settled'),
      effects: [effect('onPaid'), effect('onPaid'), effect('onReversed')],
    },
    'of one that was a dead letter in between': {
      ...settled,
      steps: path('open', 'submitted', 'dead', 'submitted', 'settled'),
    },
    'of one whose reversal was a dead letter in between': {
      ...reversed,
      steps: path('open', 'submitted', 'settled', 'dead', 'settled', 'reversed'),
    },
    'of one that was taken back before it settled': {
      sequencer: [...settled.sequencer, takenBack(10), said(15, 'not submitted')],
      intents: [row('open')],
      steps: path('open', 'submitted', 'open'),
      effects: [],
    },
    'of one that was paid after it had expired': {
      sequencer: [created, out, said(5, 'not submitted'), paid(11)],
      intents: [row('expired', { isDue: false })],
      steps: path('open', 'expired'),
      effects: [],
    },
    'of a login, which nobody watches': login,
    'of a login that was completed': completedLogin,
  };
  it.each(Object.entries(sound))('%s', (_title, evidence) => {
    expect(checkEvidence(evidence, { isOver: true })).toEqual([]);
  });

  it('of a secret that is handed out while the database is read', () => {
    const nothing = { intents: [], steps: [], effects: [] };
    expect(kindsIn({ ...nothing, sequencer: [created, out], readAt: out.at })).toEqual([]);
    expect(kindsIn({ ...nothing, sequencer: [created, out], readAt: out.at + 1 })).toEqual(['lost record']);
  });

  it('of a run that is not over: what is paid may still be open', () => {
    const waiting: Evidence = { ...settled, intents: [row('open')], steps: [], effects: [] };
    expect(kindsIn(waiting, false)).toEqual([]);
    expect(kindsIn(waiting)).toEqual(['lost payment']);
  });
});

interface Case {
  readonly title: string;
  readonly kinds: readonly FaultKind[];
  readonly evidence: Evidence;
}

/** @param kinds what is wrong, and what follows from it */
const finds = (title: string, kinds: FaultKind[], evidence: Evidence): Case => ({ title, kinds, evidence });

const withSteps = (evidence: Evidence, ...states: string[]): Evidence => ({ ...evidence, steps: path(...states) });
const withRow = (evidence: Evidence, intent: IntentEvidence): Evidence => ({ ...evidence, intents: [intent] });
const withEffects = (evidence: Evidence, ...effects: EffectEvidence[]): Evidence => ({ ...evidence, effects });
/** @param rest what the sequencer did besides */
const withoutEvent = (evidence: Evidence, event: SequencerEvent, ...rest: SequencerEvent[]): Evidence => ({
  ...evidence,
  sequencer: [...evidence.sequencer.filter((one) => !isDeepStrictEqual(one, event)), ...rest],
});

const cases: readonly Case[] = [
  finds('a secret is out and there is no row', ['lost record', 'lost payment'], {
    ...{ sequencer: settled.sequencer, intents: [], steps: [], effects: [] },
  }),
  finds('another amount', ['changed terms', 'wrong effect'], withRow(settled, row('settled', { amount: '0.05' }))),
  finds('other metadata', ['changed terms', 'wrong effect'], withRow(settled, row('settled', { metadata: {} }))),
  finds('another account', ['changed terms'], withRow(settled, row('settled', { destination: 'x' }))),
  finds('settled at once', ['illegal step'], withSteps(settled, 'open', 'settled')),
  finds('expired and settled', ['illegal step'], withSteps(settled, 'open', 'submitted', 'expired', 'settled')),
  finds('the last step is missing', ['broken path', 'doubled effect'], withSteps(settled, 'open', 'submitted')),
  finds('a step in the middle is missing', ['broken path', 'doubled effect'], {
    ...reversed,
    steps: reversed.steps.toSpliced(1, 1),
  }),
  finds('it begins late', ['broken path'], { ...settled, steps: settled.steps.slice(1) }),
  finds('time goes back', ['broken path'], {
    ...settled,
    steps: settled.steps.map((step) => ({ ...step, at: 30 - step.at })),
  }),
  finds('steps without a row', ['broken path', 'lost record', 'foreign effect', 'lost payment'], {
    ...settled,
    intents: [],
  }),
  finds('a row that has no steps', ['broken path', 'doubled effect'], withSteps(settled)),
  finds('nobody said that it was submitted', ['unheard payment'], withoutEvent(settled, said(9, 'submitted'))),
  finds(
    'it was said after it was believed',
    ['unheard payment'],
    withoutEvent(settled, said(9, 'submitted'), said(11, 'submitted')),
  ),
  finds('it was said only before it was taken back', ['unheard payment'], {
    ...withSteps(settled, 'open', 'submitted', 'open', 'submitted', 'settled'),
    sequencer: [...settled.sequencer, said(15, 'not submitted')],
  }),
  finds(
    'that it was taken back was said once',
    ['unheard reversal'],
    withoutEvent(reversed, said(23, 'not submitted')),
  ),
  finds('it was said of the time before it settled', ['unheard reversal'], {
    ...reversed,
    sequencer: [...settled.sequencer, takenBack(11), said(12, 'not submitted'), said(13, 'not submitted')],
  }),
  finds('it was open again for no reason', ['unheard reversal', 'lost payment'], {
    ...withSteps(settled, 'open', 'submitted', 'open'),
    ...{ intents: [row('open')], effects: [] },
  }),
  finds('a dead letter of onReversed was taken for one of onPaid', ['settled twice'], {
    ...withSteps(settled, 'open', 'submitted', 'settled', 'dead', 'submitted', 'settled'),
    effects: [effect('onPaid'), effect('onPaid')],
  }),
  finds('it settled, and nothing was done', ['missing effect'], withEffects(settled)),
  finds('it was reversed, and nothing was done', ['missing effect'], withEffects(reversed, effect('onPaid'))),
  finds('it was done twice', ['doubled effect'], withEffects(settled, effect('onPaid'), effect('onPaid'))),
  finds('it was done before it settled', ['doubled effect', 'lost payment'], {
    ...withSteps(settled, 'open', 'submitted'),
    intents: [row('submitted')],
  }),
  finds('a reversal was done that never was', ['doubled effect'], withEffects(settled, ...reversed.effects)),
  finds('a login was done twice', ['doubled effect'], withEffects(completedLogin, effect('login'), effect('login'))),
  finds('a login was completed, and nothing was done', ['missing effect'], withEffects(completedLogin)),
  finds(
    'it was done for another amount',
    ['wrong effect'],
    withEffects(settled, effect('onPaid', { amount: '45.00' })),
  ),
  finds(
    'it was done for another order',
    ['wrong effect'],
    withEffects(settled, effect('onPaid', { metadata: { order: 43 } })),
  ),
  finds('it was done, and its secret never left the server', ['foreign effect'], withoutEvent(settled, out)),
  finds('an open payment is never due', ['forgotten work'], {
    ...{ sequencer: [created, out], intents: [row('open', { isDue: false })], steps: [], effects: [] },
  }),
  finds('it is a dead letter', ['lost payment'], {
    ...withSteps(settled, 'open', 'submitted', 'dead'),
    ...{ intents: [row('dead', { isDue: false })], effects: [] },
  }),
  finds('it expired though it was paid', ['lost payment'], {
    sequencer: [created, out, paid(4), said(5, 'nothing')],
    intents: [row('expired', { isDue: false })],
    steps: path('open', 'expired'),
    effects: [],
  }),
  finds('it was taken back, and is settled', ['undue payment'], {
    ...settled,
    sequencer: [...settled.sequencer, takenBack(30)],
  }),
];

describe('a fault is found', () => {
  it.each(cases)('$title: $kinds', ({ kinds, evidence }) => {
    expect(new Set(kindsIn(evidence))).toEqual(new Set(kinds));
  });

  it('of each kind that there is', () => {
    expect(new Set(cases.flatMap(({ kinds }) => kinds)).size).toBe(14);
  });

  it('in the one intent that has it', () => {
    const asB = <Item extends { id: string }>(items: readonly Item[]): Item[] =>
      items.map((item) => ({ ...item, id: 'b' }));
    const both: Evidence = {
      sequencer: [...settled.sequencer, ...asB(settled.sequencer)],
      intents: [...settled.intents, ...asB(settled.intents)],
      steps: [...settled.steps, ...asB(settled.steps)],
      effects: settled.effects,
    };
    expect(checkEvidence(both, { isOver: true })).toMatchObject([{ kind: 'missing effect', id: 'b' }]);
  });
});
