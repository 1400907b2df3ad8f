/** What a kind of fault is, and what can be set about it. */
export interface FaultTraits {
  readonly title: string;
  /** In plain words, for the page. */
  readonly does: string;
  readonly group: 'connection' | 'slow' | 'wrong' | 'memory';
  /** When it comes unless it is said; without it there is no choice. */
  readonly when?: 'before' | 'after';
  /** Milliseconds unless they are said; without it there is no waiting. */
  readonly ms?: number;
  readonly httpStatus?: number;
  /** It concerns the delivery of messages, and no other operation. */
  readonly messagesOnly?: true;
}

const kinds = {
  refuse: {
    title: 'Refuse the connection',
    does: 'Hangs up without a word, as a service does that is down.',
    group: 'connection',
    when: 'before',
  },
  cut: {
    title: 'Cut the answer',
    does: 'Sends half of the answer, then hangs up.',
    group: 'connection',
    when: 'before',
  },
  delay: {
    title: 'Answer late',
    does: 'Lets the caller wait. A caller that gives up does not stop the operation.',
    group: 'slow',
    when: 'before',
    ms: 3_000,
  },
  drip: {
    title: 'Answer drop by drop',
    does: 'Sends the right answer one byte at a time, and waits before each.',
    group: 'slow',
    ms: 500,
  },
  error: {
    title: 'Say no',
    does: 'Answers with an ERROR envelope, as the interface foresees.',
    group: 'wrong',
    when: 'before',
  },
  status: {
    title: 'Fail with an HTTP status',
    does: 'Answers with a status such as 500 or 503, as a broken server or the proxy in front of it does.',
    group: 'wrong',
    when: 'before',
    httpStatus: 503,
  },
  redirect: {
    title: 'Send elsewhere',
    does: 'Answers with a redirect to the wallet page, as a gateway does that wants a login first.',
    group: 'wrong',
    when: 'before',
  },
  'wrong-content-type': {
    title: 'Answer with a web page',
    does: 'Answers 200 with HTML, as a hotel network or a maintenance page does.',
    group: 'wrong',
    when: 'before',
  },
  garble: {
    title: 'Answer with noise',
    does: 'Sends as many bytes as the answer has, and none of them means anything.',
    group: 'wrong',
    when: 'before',
  },
  flood: {
    title: 'Never stop answering',
    does: 'Sends 64 megabytes. Whoever takes them all in has a problem.',
    group: 'wrong',
    when: 'before',
  },
  forget: {
    title: 'Forget the intent',
    does: 'Answers as it should and knows nothing of the intent from then on, as after a restart.',
    group: 'memory',
    when: 'after',
  },
  duplicate: {
    title: 'Deliver messages twice',
    does: 'Each message of a rendezvous comes two times.',
    group: 'memory',
    messagesOnly: true,
  },
  reorder: {
    title: 'Deliver messages out of order',
    does: 'The messages of a rendezvous come in the wrong order, the newest first.',
    group: 'memory',
    messagesOnly: true,
  },
} as const satisfies Record<string, FaultTraits>;

/** A way to fail. */
export type FaultKind = keyof typeof kinds;

export const faultKinds: Readonly<Record<FaultKind, FaultTraits>> = kinds;
export const faultKindNames = Object.keys(kinds) as [FaultKind, ...FaultKind[]];
