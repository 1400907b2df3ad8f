import type { Attributes, Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';
import type { ReadLedgerBacklog, RouterEvent, RouterEventType } from './router-event.js';

type EventOf<Type extends RouterEventType> = Extract<RouterEvent, { readonly type: Type }>;
type Point = readonly [value: number, attributes: Attributes];
type Sources = { readonly [Type in RouterEventType]?: (event: EventOf<Type>) => Point };

interface Metric {
  readonly kind: 'counter' | 'upDownCounter' | 'histogram' | 'gauge';
  /** UCUM unit. */
  readonly unit: string;
  readonly description: string;
  /** Its events. A gauge has none: it is read from the ledger. */
  readonly sources: Sources;
}

const metricOf =
  (kind: Metric['kind']) =>
  (unit: string, description: string, sources: Sources = {}): Metric => ({ kind, unit, description, sources });
const counter = metricOf('counter');
const upDownCounter = metricOf('upDownCounter');
const histogram = metricOf('histogram');
const gauge = metricOf('gauge');

const one = (attributes: Attributes = {}): Point => [1, attributes];
const seconds = (ms: number, attributes: Attributes = {}): Point => [ms / 1_000, attributes];
const byKind = ({ kind }: { readonly kind: string }): Point => one({ 'express_intents.kind': kind });
const byCode = ({ code }: { readonly code: string }): Point => one({ 'error.type': code });
const byOperation = (value: number, operation: string): Point => [value, { 'express_intents.operation': operation }];
const hookTime = (
  { hook, durationMs }: { readonly hook: string; readonly durationMs: number },
  outcome: 'ok' | 'failed',
): Point => seconds(durationMs, { 'express_intents.hook': hook, 'express_intents.outcome': outcome });
const callOf = ({ operation, transport }: EventOf<'upstream_call'>): Attributes => ({
  'express_intents.operation': operation,
  'express_intents.transport': transport,
});

/** All metrics. Attribute values come from closed sets, such as kinds and codes. Never ids, addresses or paths. */
export const metrics: Readonly<Record<string, Metric>> = {
  'express_intents.intents.created': counter('{intent}', 'Intents created', { intent_created: byKind }),
  'express_intents.intents.replayed': counter('{request}', 'Requests that received an existing intent', {
    intent_replayed: byKind,
  }),
  'express_intents.intents.failed': counter('{request}', 'Requests to create an intent that were rejected or failed', {
    intent_failed: byCode,
  }),
  'express_intents.intents.scanned': counter('{intent}', 'Intents scanned while a page was connected', {
    code_scanned: () => one(),
  }),
  'express_intents.intents.declined': counter('{intent}', 'Intents declined while a page was connected', {
    intent_declined: byKind,
  }),
  'express_intents.intents.submitted': counter('{intent}', 'Intents submitted', {
    intent_submitted: ({ kind = 'unknown', source }) =>
      one({ 'express_intents.kind': kind, 'express_intents.source': source }),
  }),
  'express_intents.payments.settled': counter('{payment}', 'Payments settled', {
    payment_settled: ({ late }) => one({ 'express_intents.late': late }),
  }),
  'express_intents.payments.late': counter(
    '{payment}',
    'Payments whose submission was detected over 15 minutes after their creation',
    {
      payment_late: () => one(),
    },
  ),
  'express_intents.payments.reversed': counter('{payment}', 'Payments reversed', {
    payment_reversed: ({ wasSettled }) => one({ 'express_intents.was_settled': wasSettled }),
  }),
  'express_intents.payments.expired': counter('{payment}', 'Intents not paid within `ledger.watch.unpaidMs`', {
    payment_expired: () => one(),
  }),
  'express_intents.settlement.lag': histogram('s', 'Time from the detected submission of a payment to its settlement', {
    payment_settled: ({ lagMs }) => seconds(lagMs),
  }),
  'express_intents.hook.duration': histogram('s', 'Duration of onPaid, onReversed, verifyPayment and onDeadLetter', {
    hook_completed: (event) => hookTime(event, 'ok'),
    hook_failed: (event) => hookTime(event, 'failed'),
  }),
  'express_intents.dead_letters': counter('{payment}', 'Payments that became dead letters', {
    dead_letter: ({ hook }) => one({ 'express_intents.hook': hook }),
  }),
  'express_intents.ledger.due': gauge(
    '{payment}',
    'Payments that are due for a poll or a hook call, counted up to 1000',
  ),
  'express_intents.ledger.oldest_due': gauge('s', 'Longest current wait of a due payment'),
  'express_intents.ledger.dead_letters': gauge('{payment}', 'Dead letters in the ledger, counted up to 1000'),
  'express_intents.ledger.outages': counter('{outage}', 'Outages of the ledger', {
    ledger_unavailable: () => one(),
  }),
  'express_intents.logins.completed': counter('{login}', 'Logins that started a session', {
    login_completed: () => one(),
  }),
  'express_intents.logins.failed': counter('{request}', 'Requests for a session that were rejected or failed', {
    login_failed: byCode,
  }),
  'express_intents.logouts': counter('{request}', 'Requests to log out', { logged_out: () => one() }),
  'express_intents.webhooks.received': counter('{call}', 'Webhook calls received', {
    webhook_received: () => one(),
  }),
  'express_intents.webhooks.rejected': counter('{call}', 'Webhook calls that were rejected, or whose recheck failed', {
    webhook_rejected: byCode,
  }),
  'express_intents.rate_limited': counter('{request}', 'Requests over a rate limit', {
    rate_limited: ({ route }) => one({ 'express_intents.route': route }),
  }),
  'express_intents.streams.open': upDownCounter('{stream}', 'Open event streams', {
    stream_opened: () => one(),
    stream_closed: () => [-1, {}],
  }),
  'express_intents.streams.rejected': counter('{stream}', 'Event streams rejected', {
    stream_rejected: byCode,
  }),
  'express_intents.upstream.duration': histogram('s', 'Duration of calls to the sequencer, including all attempts', {
    upstream_call: (event) => seconds(event.durationMs, { ...callOf(event), 'express_intents.outcome': event.outcome }),
  }),
  'express_intents.upstream.attempts': counter('{attempt}', 'Attempts of calls to the sequencer', {
    upstream_call: (event) => [event.attempts, callOf(event)],
  }),
  'express_intents.breakers.open': upDownCounter('{breaker}', 'Operations with an open circuit breaker', {
    breaker_opened: ({ operation }) => byOperation(1, operation),
    breaker_closed: ({ operation }) => byOperation(-1, operation),
  }),
};

/** In seconds. Up to a day, because a failing hook delays the settlement. */
const secondBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 86_400];

export class Instruments {
  readonly #recorders = new Map<string, ((event: RouterEvent) => void)[]>();
  readonly #stopReading: () => void;

  /** @param readBacklog undefined without a ledger */
  constructor(meter: Meter, readBacklog: ReadLedgerBacklog | undefined) {
    for (const [name, metric] of Object.entries(metrics)) {
      if (metric.kind === 'gauge') continue;
      const record = recorderOf(meter, name, metric);
      for (const [type, pointOf] of Object.entries(metric.sources)) {
        // Each source receives only events of its type.
        const recorder = (event: RouterEvent): void => record((pointOf as (event: RouterEvent) => Point)(event));
        this.#recorders.set(type, [...(this.#recorders.get(type) ?? []), recorder]);
      }
    }
    this.#stopReading = readBacklog ? observeBacklog(meter, readBacklog) : () => undefined;
  }

  record(event: RouterEvent): void {
    for (const record of this.#recorders.get(event.type) ?? []) record(event);
  }

  close(): void {
    this.#stopReading();
  }
}

function recorderOf(meter: Meter, name: string, { kind, unit, description }: Metric): (point: Point) => void {
  if (kind === 'histogram') {
    const advice = { explicitBucketBoundaries: secondBuckets };
    const histogram: Histogram = meter.createHistogram(name, { unit, description, advice });
    return (point) => histogram.record(...point);
  }
  const options = { unit, description };
  const counter: Counter | UpDownCounter =
    kind === 'counter' ? meter.createCounter(name, options) : meter.createUpDownCounter(name, options);
  return (point) => counter.add(...point);
}

/** One query for all gauges. They have no value during an outage of the ledger. */
function observeBacklog(meter: Meter, readBacklog: ReadLedgerBacklog): () => void {
  const gauges = ['due', 'oldest_due', 'dead_letters'].map((gauge) => {
    const name = `express_intents.ledger.${gauge}`;
    const { unit, description } = metrics[name] as Metric;
    return meter.createObservableGauge(name, { unit, description });
  });
  const read: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    const backlog = await readBacklog().catch(() => undefined);
    if (!backlog) return;
    const values = [backlog.due, backlog.oldestDueMs / 1_000, backlog.deadLetters];
    for (const [index, gauge] of gauges.entries()) result.observe(gauge, values[index] ?? 0);
  };
  meter.addBatchObservableCallback(read, gauges);
  return () => meter.removeBatchObservableCallback(read, gauges);
}
