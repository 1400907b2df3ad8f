import type { Operation } from '../../wire/envelope.js';
import { nameOf } from '../../wire/envelope.js';
import type { SettledFault } from '../faults/fault.js';
import { namedIntent } from '../faults/named-intent.js';
import { Subscribers } from '../state/subscribers.js';
import type { Happening, KeptBytes, Refusal, Via } from './happening.js';

/** One line of a trail. */
export interface JournalEntry {
  /** Grows by one with everything that begins, so that it tells the order also where a clock stands still. */
  readonly number: number;
  /** When it began, ms since 1970. */
  readonly atMs: number;
  /** How often in a row the very same came, and when it came last. */
  readonly times: number;
  readonly lastAtMs: number;
  readonly what: Happening;
}

/** What happened to one intent. */
export interface Trail {
  /** Base58; undefined for what names no intent that there could be. */
  readonly id: string | undefined;
  readonly startedAtMs: number;
  /** In the order in which it ended. */
  readonly entries: readonly JournalEntry[];
  /** Entries that had to make room. */
  readonly dropped: number;
}

interface GrowingTrail extends Trail {
  entries: JournalEntry[];
  dropped: number;
  byteCount: number;
}

/** When something began, and its place in the order. */
export interface Beginning {
  readonly number: number;
  readonly atMs: number;
  /** By a clock that only goes forward, in milliseconds. */
  readonly tickMs: number;
}

type Request = Operation & { readonly body: Uint8Array };

export interface JournalLimits {
  readonly trails: number;
  readonly entries: number;
  /** Bytes of messages, of one and of all. */
  readonly messageBytes: number;
  readonly bytes: number;
}

const usualLimits: JournalLimits = { trails: 1_000, entries: 200, messageBytes: 16 * 1024, bytes: 32 * 1024 * 1024 };

/** Operations that begin something, and so have a trail also where no intent comes of it. */
const beginning = new Set(['Intents.createIntent', 'Messaging.sendMessage']);

/**
 * What came to the sequencer and what it did, for a person to look at: in memory, bounded, and without any part in what
 * happens. There is no client secret in it, because the sequencer never learns one.
 */
export class Journal {
  readonly #now: () => number;
  readonly #isIntent: (id: string) => boolean;
  readonly #limits: JournalLimits;
  readonly #trails = new Map<string | undefined, GrowingTrail>();
  readonly #subscribers = new Subscribers();
  #lastNumber = 0;
  #byteCount = 0;

  constructor(now: () => number, isIntent: (id: string) => boolean, limits: Partial<JournalLimits> = {}) {
    this.#now = now;
    this.#isIntent = isIntent;
    this.#limits = { ...usualLimits, ...limits };
  }

  /** The trails, the one that began last at the end. */
  get trails(): readonly Trail[] {
    return [...this.#trails.values()];
  }

  trail(id: string | undefined): Trail | undefined {
    return this.#trails.get(id);
  }

  begin(): Beginning {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, atMs: this.#now(), tickMs: performance.now() };
  }

  /** Notes what happened to an intent, or to none that there could be. */
  note(id: string | undefined, what: Happening, { number, atMs }: Beginning = this.begin()): void {
    const trail = this.#trailOf(id, atMs);
    const last = trail.entries.at(-1);
    if (last && isSame(last.what, what)) {
      trail.entries[trail.entries.length - 1] = { ...last, times: last.times + 1, lastAtMs: atMs };
    } else {
      trail.entries.push({ number, atMs, times: 1, lastAtMs: atMs, what });
      this.#weigh(trail, bytesOf(what));
      if (trail.entries.length > this.#limits.entries) this.#dropOne(trail);
    }
    this.#makeRoom(trail);
    this.#subscribers.notify();
  }

  /** Notes a call once it is known how it ended; the function that this gives says so. */
  call(request: Request, via: Via): (answer: Uint8Array | undefined, refusal?: Refusal) => void {
    const began = this.begin();
    return (answer, refusal) => {
      const operation = nameOf(request);
      const durationMs = performance.now() - began.tickMs;
      const kept = { request: this.keep(request.body), answer: answer && this.keep(answer) };
      this.note(this.idOf(request), { kind: 'call', operation, via, ...kept, refusal, durationMs }, began);
    };
  }

  /** Notes a call of a webhook once it is known how it ended; the function that this gives says so. */
  webhook(id: string, url: string): (end: { status?: number; token?: string; problem?: string }) => void {
    const began = this.begin();
    return (end) => {
      this.note(id, { kind: 'webhook', url, ...end, durationMs: performance.now() - began.tickMs }, began);
    };
  }

  /** Notes that a call meets a fault that was asked for. */
  fault(request: Request | Operation, via: Via, fault: SettledFault): void {
    const id = 'body' in request ? this.idOf(request) : undefined;
    this.note(id, { kind: 'fault', operation: nameOf(request), via, fault });
  }

  /** The intent that a request names, if there is one or it was about to begin one. */
  idOf(request: Request): string | undefined {
    const id = namedIntent(request);
    if (id === undefined) return undefined;
    return this.#trails.has(id) || this.#isIntent(id) || beginning.has(nameOf(request)) ? id : undefined;
  }

  /** A copy: what a message is cut from is often larger, and goes on being used. */
  keep(bytes: Uint8Array): KeptBytes {
    return { length: bytes.length, bytes: bytes.length > this.#limits.messageBytes ? undefined : bytes.slice() };
  }

  /** Says that there is something new which is no entry. */
  touch(): void {
    this.#subscribers.notify();
  }

  /** Resolves when there is something new, or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void> {
    return this.#subscribers.next(signal);
  }

  #trailOf(id: string | undefined, atMs: number): GrowingTrail {
    const known = this.#trails.get(id);
    if (known) return known;
    const trail = { id, startedAtMs: atMs, entries: [], dropped: 0, byteCount: 0 };
    this.#trails.set(id, trail);
    return trail;
  }

  #weigh(trail: GrowingTrail, bytes: number): void {
    trail.byteCount += bytes;
    this.#byteCount += bytes;
  }

  /** How it began stays. */
  #dropOne(trail: GrowingTrail): void {
    const [dropped] = trail.entries.splice(1, 1);
    if (!dropped) return;
    trail.dropped += 1;
    this.#weigh(trail, -bytesOf(dropped.what));
  }

  #makeRoom(current: GrowingTrail): void {
    for (const trail of this.#trails.values()) {
      if (this.#trails.size <= this.#limits.trails && this.#byteCount <= this.#limits.bytes) return;
      if (trail === current) continue;
      this.#trails.delete(trail.id);
      this.#byteCount -= trail.byteCount;
    }
  }
}

function bytesOf(what: Happening): number {
  const kept = [
    'request' in what ? what.request : undefined,
    'answer' in what ? what.answer : undefined,
    'message' in what ? what.message : undefined,
  ];
  return kept.reduce((sum, one) => sum + (one?.bytes?.length ?? 0), 0);
}

/** A site that asks again and again for the same, and gets the same, is one line. */
function isSame(one: Happening, other: Happening): boolean {
  if (one.kind !== 'call' || other.kind !== 'call') return false;
  return (
    one.operation === other.operation &&
    one.via === other.via &&
    one.refusal?.message === other.refusal?.message &&
    haveSameBytes(one.request, other.request) &&
    haveSameBytes(one.answer, other.answer)
  );
}

function haveSameBytes(one: KeptBytes | undefined, other: KeptBytes | undefined): boolean {
  if (!one?.bytes || !other?.bytes) return one === other;
  return Buffer.compare(one.bytes, other.bytes) === 0;
}
