import type { IntentState } from './ledger.js';

// Everything that happens to a recorded intent. From this table come the statements that write, the list of changes that the
// database accepts, and the drawing in docs/architecture.md.
//
// "Submitted" is always the status that the sequencer returns to the ledger. Reports of wallets, browsers and webhooks only
// cause an earlier poll. The states scanned and declined are shown in the browser and never recorded.

export interface Transition {
  /** What happens, for the drawing. */
  readonly when: string;
  readonly from: readonly IntentState[];
  /** Undefined if the state stays. */
  readonly to?: IntentState;
  /** Columns and their values as SQL. `given.due_ms` is the named value `due_ms` of a write. */
  readonly sets?: Readonly<Record<string, string>>;
  readonly clears?: readonly (keyof typeof cleared)[];
  /** Whether it writes the row in `failures`, from the named values `error` and `hook`. */
  readonly fails?: boolean;
}

/** Columns that are cleared together. */
export const cleared = {
  claim: { leased_until: 'null', running_hook: 'null' },
  failures: { attempts: '0', timeouts: '0', lane: `'first'`, has_failed: 'false' },
  submission: { submitted_at: 'null' },
  suspicion: { reversal_suspected_at: 'null' },
} as const;

const after = (name: string): string => `now() + given.${name} * interval '1 millisecond'`;
/** Payments that became due together are spread by a tenth of the interval. */
const afterAbout = (name: string): string =>
  `now() + given.${name} * (0.9 + random() * 0.2) * interval '1 millisecond'`;
const notBefore = (name: string): string => `greatest(p.watch_until, ${after(name)})`;
const isDueNow = 'given.due_ms = 0 and p.due_at <= now()';

const table = {
  // The states of a payment.
  confirm: {
    when: 'the sequencer accepted the intent, or reports it as submitted',
    from: ['creating'],
    to: 'created',
    sets: { due_at: after('due_ms'), watch_until: after('watch_ms') },
  },
  submit: {
    when: 'submitted',
    from: ['created', 'expired'],
    to: 'submitted',
    sets: {
      submitted_at: 'now()',
      attempts: '0',
      has_failed: 'false',
      running_hook: 'given.hook',
      // A payment that is due stays due: an update that changes no indexed column costs least.
      due_at: `case when ${isDueNow} then p.due_at else ${after('due_ms')} end`,
      due_set_at: `case when ${isDueNow} then p.due_set_at else now() end`,
      watch_until: `greatest(p.watch_until, now() + (given.due_ms + given.watch_ms) * interval '1 millisecond')`,
      leased_until: 'case when given.due_ms = 0 then p.leased_until end',
    },
  },
  expire: {
    when: 'not submitted within `unpaidMs`',
    from: ['created'],
    to: 'expired',
    sets: { due_at: afterAbout('due_ms'), watch_until: after('watch_ms') },
    clears: ['claim'],
  },
  resume: {
    when: 'expired too early, because a clock was ahead',
    from: ['expired'],
    to: 'created',
    sets: { due_at: after('due_ms'), watch_until: after('watch_ms') },
    clears: ['claim'],
  },
  reopen: {
    when: 'not submitted any more',
    from: ['submitted'],
    to: 'created',
    clears: ['claim', 'failures', 'submission'],
  },
  settle: {
    when: 'verified, and `onPaid` succeeded: in its transaction',
    from: ['submitted'],
    to: 'settled',
    sets: { settled_at: 'now()', due_at: after('due_ms') },
    clears: ['claim', 'failures'],
  },
  reverse: {
    when: 'twice not submitted, and `onReversed` succeeded: in its transaction',
    from: ['settled'],
    to: 'reversed',
    sets: { reversed_at: 'now()', due_at: after('due_ms'), watch_until: notBefore('watch_ms') },
    clears: ['claim', 'failures', 'suspicion'],
  },
  payAgain: {
    when: 'submitted again',
    from: ['reversed'],
    to: 'created',
    sets: { due_at: 'now()' },
    clears: ['claim', 'failures'],
  },
  bury: {
    when: 'a hook failed too often, or was not verified or unknown for `unpaidMs`',
    from: ['submitted', 'settled'],
    to: 'dead',
    sets: { due_at: 'null', attempts: 'given.attempts', lane: 'given.lane' },
    clears: ['claim'],
    fails: true,
  },
  retryPaid: {
    when: 'retry',
    from: ['dead'],
    to: 'submitted',
    sets: { due_at: 'now()', attempts: '0', leased_until: 'null', watch_until: notBefore('watch_ms') },
  },
  retryReversed: {
    when: 'retry, if `onReversed` failed',
    from: ['dead'],
    to: 'settled',
    sets: { due_at: 'now()', attempts: '0', leased_until: 'null', watch_until: notBefore('watch_ms') },
  },
  watchAgain: {
    when: 'retry',
    from: ['expired', 'reversed'],
    to: 'created',
    sets: { due_at: 'now()', attempts: '0', leased_until: 'null', watch_until: notBefore('watch_ms') },
  },

  // The state stays.
  poll: {
    when: 'unchanged: polled again later',
    from: ['created', 'submitted', 'settled', 'reversed', 'expired'],
    sets: { due_at: afterAbout('due_ms') },
    clears: ['claim'],
  },
  fail: {
    when: 'a status call or a hook failed: repeated later',
    from: ['creating', 'created', 'submitted', 'settled', 'reversed', 'expired'],
    sets: {
      due_at: afterAbout('due_ms'),
      attempts: 'given.attempts',
      timeouts: 'given.timeouts',
      lane: 'given.lane',
    },
    clears: ['claim'],
    fails: true,
  },
  startHook: { when: 'a hook starts', from: ['submitted', 'settled'], sets: { running_hook: 'given.hook' } },
  quarantine: {
    when: 'a hook was interrupted',
    from: ['submitted', 'settled'],
    sets: { lane: `'quarantine'`, due_at: 'now()' },
    clears: ['claim'],
  },
  endWatch: {
    when: 'not submitted for another `unpaidMs`: no longer polled',
    from: ['creating', 'expired', 'reversed'],
    // The clocks of two backends may disagree. The database rejects an end before its time.
    sets: { due_at: 'case when p.watch_until > now() then p.watch_until end' },
    clears: ['claim'],
  },
  suspect: {
    when: 'settled, and not submitted any more: polled again soon',
    from: ['settled'],
    sets: { reversal_suspected_at: 'now()', due_at: after('due_ms'), watch_until: notBefore('watch_ms') },
    clears: ['claim'],
  },
  trust: {
    when: 'settled, and submitted: polled again later, until `settledMs`',
    from: ['settled'],
    sets: { due_at: after('due_ms') },
    clears: ['claim', 'failures', 'suspicion'],
  },

  // The states of a login. That of a payment with `login: true` has no history.
  completeLogin: {
    when: '`onLogin` succeeded: in its transaction',
    from: ['created'],
    to: 'completed',
    sets: { completed_at: 'now()', user_id: 'given.user_id', completion_key: 'given.key' },
  },
  reopenLogin: {
    when: 'its session could not start',
    from: ['completed'],
    to: 'created',
    sets: { completed_at: 'null' },
  },
} as const satisfies Readonly<Record<string, Transition>>;

export type TransitionName = keyof typeof table;
export const transitions: Readonly<Record<TransitionName, Transition>> = table;

/** The changes of state that the database accepts, such as `created submitted`. */
export const listedChanges: readonly string[] = [
  ...new Set(Object.values(transitions).flatMap(({ from, to }) => (to ? from.map((state) => `${state} ${to}`) : []))),
];
