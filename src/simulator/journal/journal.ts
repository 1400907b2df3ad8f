import type { Operation } from '../../wire/envelope.js';
import { nameOf } from '../../wire/envelope.js';
import type { ResolvedFault } from '../faults/fault-kinds.js';
import { intentIdIn, type OperationRequest } from '../operations/request.js';
import { ChangeNotifier } from '../state/change-notifier.js';
import type { JournalRecord, RecordedBytes, Refusal, TransportKind } from './journal-record.js';

export interface JournalEntry {
  /** Numbers the entries in the order in which they started, even if the clock is stopped. */
  readonly number: number;
  /** When it started, ms since 1970. */
  readonly atMs: number;
  /** How many consecutive identical calls this entry stands for. */
  readonly times: number;
  /** When the last of these calls started, ms since 1970. */
  readonly lastAtMs: number;
  readonly record: JournalRecord;
}

export interface Timeline {
  readonly id: string | undefined;
  readonly startedAtMs: number;
  /** In the order in which they ended. */
  readonly entries: readonly JournalEntry[];
  readonly dropped: number;
}

interface MutableTimeline extends Timeline {
  entries: JournalEntry[];
  dropped: number;
  byteCount: number;
}

export interface EntryStart {
  readonly number: number;
  readonly atMs: number;
  /** From a monotonic clock, in milliseconds. */
  readonly tickMs: number;
}

export interface JournalLimits {
  readonly timelines: number;
  readonly entries: number;
  readonly messageBytes: number;
  readonly bytes: number;
}

const defaultLimits: JournalLimits = {
  timelines: 1_000,
  entries: 200,
  messageBytes: 16 * 1024,
  bytes: 32 * 1024 * 1024,
};

/** Operations that can create an intent. A refused request has a timeline too. */
const createOperations = new Set(['Intents.createIntent', 'Messaging.sendMessage']);

/**
 * Records calls, streams, webhooks and faults for the inspector, in memory and within limits. It holds no client secret,
 * because the simulator never receives one.
 *
 * A timeline that exceeds the limit of entries drops its oldest entries, except the first one. If the journal exceeds its
 * limits, the oldest timelines are removed.
 */
export class Journal {
  readonly #now: () => number;
  readonly #isIntent: (id: string) => boolean;
  readonly #limits: JournalLimits;
  readonly #timelines = new Map<string | undefined, MutableTimeline>();
  readonly #changes = new ChangeNotifier();
  #lastNumber = 0;
  #byteCount = 0;

  constructor(now: () => number, isIntent: (id: string) => boolean, limits: Partial<JournalLimits> = {}) {
    this.#now = now;
    this.#isIntent = isIntent;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The oldest first. */
  get timelines(): readonly Timeline[] {
    return [...this.#timelines.values()];
  }

  timeline(id: string | undefined): Timeline | undefined {
    return this.#timelines.get(id);
  }

  start(): EntryStart {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, atMs: this.#now(), tickMs: performance.now() };
  }

  add(id: string | undefined, record: JournalRecord, { number, atMs }: EntryStart = this.start()): void {
    const timeline = this.#timelineOf(id, atMs);
    const last = timeline.entries.at(-1);
    if (last && isRepeated(last.record, record)) {
      timeline.entries[timeline.entries.length - 1] = { ...last, times: last.times + 1, lastAtMs: atMs };
    } else {
      timeline.entries.push({ number, atMs, times: 1, lastAtMs: atMs, record });
      this.#addBytes(timeline, bytesOf(record));
      if (timeline.entries.length > this.#limits.entries) this.#dropEntry(timeline);
    }
    this.#dropTimelines(timeline);
    this.#changes.notify();
  }

  /** Starts the record of a call. The returned function adds the entry with the outcome. */
  startCall(
    request: OperationRequest,
    via: TransportKind,
  ): (response: Uint8Array | undefined, refusal?: Refusal) => void {
    const start = this.start();
    return (response, refusal) => {
      const record: JournalRecord = {
        kind: 'call',
        operation: nameOf(request),
        via,
        request: this.copy(request.body),
        response: response && this.copy(response),
        refusal,
        durationMs: performance.now() - start.tickMs,
      };
      this.add(this.idOf(request), record, start);
    };
  }

  startWebhook(id: string, url: string): (end: { status?: number; token?: string; problem?: string }) => void {
    const start = this.start();
    return (end) => {
      this.add(id, { kind: 'webhook', url, ...end, durationMs: performance.now() - start.tickMs }, start);
    };
  }

  recordFault(request: OperationRequest | Operation, via: TransportKind, fault: ResolvedFault): void {
    const id = 'body' in request ? this.idOf(request) : undefined;
    this.add(id, { kind: 'fault', operation: nameOf(request), via, fault });
  }

  /** The id in a request, if its intent exists, has a timeline, or is being created. */
  idOf(request: OperationRequest): string | undefined {
    const id = intentIdIn(request);
    if (id === undefined) return undefined;
    return this.#timelines.has(id) || this.#isIntent(id) || createOperations.has(nameOf(request)) ? id : undefined;
  }

  /** Copies a message, because it is part of a larger buffer that is reused. */
  copy(bytes: Uint8Array): RecordedBytes {
    return { length: bytes.length, bytes: bytes.length > this.#limits.messageBytes ? undefined : bytes.slice() };
  }

  /** Notifies the inspector of a change that is not an entry. */
  notify(): void {
    this.#changes.notify();
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.next(signal);
  }

  #timelineOf(id: string | undefined, atMs: number): MutableTimeline {
    const existing = this.#timelines.get(id);
    if (existing) return existing;
    const timeline = { id, startedAtMs: atMs, entries: [], dropped: 0, byteCount: 0 };
    this.#timelines.set(id, timeline);
    return timeline;
  }

  #addBytes(timeline: MutableTimeline, bytes: number): void {
    timeline.byteCount += bytes;
    this.#byteCount += bytes;
  }

  #dropEntry(timeline: MutableTimeline): void {
    const [dropped] = timeline.entries.splice(1, 1);
    if (!dropped) return;
    timeline.dropped += 1;
    this.#addBytes(timeline, -bytesOf(dropped.record));
  }

  #dropTimelines(current: MutableTimeline): void {
    for (const timeline of this.#timelines.values()) {
      if (this.#timelines.size <= this.#limits.timelines && this.#byteCount <= this.#limits.bytes) return;
      if (timeline === current) continue;
      this.#timelines.delete(timeline.id);
      this.#byteCount -= timeline.byteCount;
    }
  }
}

function bytesOf(record: JournalRecord): number {
  const recorded = [
    'request' in record ? record.request : undefined,
    'response' in record ? record.response : undefined,
    'message' in record ? record.message : undefined,
  ];
  return recorded.reduce((sum, one) => sum + (one?.bytes?.length ?? 0), 0);
}

function isRepeated(one: JournalRecord, other: JournalRecord): boolean {
  if (one.kind !== 'call' || other.kind !== 'call') return false;
  return (
    one.operation === other.operation &&
    one.via === other.via &&
    one.refusal?.message === other.refusal?.message &&
    haveSameBytes(one.request, other.request) &&
    haveSameBytes(one.response, other.response)
  );
}

function haveSameBytes(one: RecordedBytes | undefined, other: RecordedBytes | undefined): boolean {
  if (!one?.bytes || !other?.bytes) return one === other;
  return Buffer.compare(one.bytes, other.bytes) === 0;
}
