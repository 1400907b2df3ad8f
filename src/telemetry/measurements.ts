import type { Attributes } from '@opentelemetry/api';
import type { MetricName } from './metrics.js';
import type { RouterEvent, RouterEventType } from './router-event.js';

/** What is added to one metric. */
export interface Measurement {
  readonly name: MetricName;
  readonly value: number;
  readonly attributes: Attributes;
}

type EventOf<Type extends RouterEventType> = Extract<RouterEvent, { readonly type: Type }>;

const count = (name: MetricName, attributes: Attributes = {}): Measurement => ({ name, value: 1, attributes });
const add = (name: MetricName, value: number, attributes: Attributes = {}): Measurement => ({
  name,
  value,
  attributes,
});
const seconds = (ms: number): number => ms / 1_000;

const hookDuration =
  (outcome: 'ok' | 'failed') =>
  ({ hook, ms }: EventOf<'hook_completed' | 'hook_failed'>): Measurement[] => [
    add('express_intents.hook.duration', seconds(ms), {
      'express_intents.hook': hook,
      'express_intents.outcome': outcome,
    }),
  ];

const upstream = ({ operation, transport, outcome, tries, ms }: EventOf<'upstream_call'>): Measurement[] => {
  const attributes = { 'express_intents.operation': operation, 'express_intents.transport': transport };
  return [
    add('express_intents.upstream.duration', seconds(ms), { ...attributes, 'express_intents.outcome': outcome }),
    add('express_intents.upstream.tries', tries, attributes),
  ];
};

/** By the type of an event, what it adds to which metrics. */
const measures: { readonly [Type in RouterEventType]: (event: EventOf<Type>) => readonly Measurement[] } = {
  intent_created: ({ kind }) => [count('express_intents.intents.created', { 'express_intents.kind': kind })],
  intent_repeated: ({ kind }) => [count('express_intents.intents.repeated', { 'express_intents.kind': kind })],
  intent_refused: ({ code }) => [count('express_intents.intents.refused', { 'error.type': code })],
  code_scanned: () => [count('express_intents.intents.scanned')],
  intent_declined: ({ kind }) => [count('express_intents.intents.declined', { 'express_intents.kind': kind })],
  intent_submitted: ({ kind = 'unknown', way }) => [
    count('express_intents.intents.submitted', { 'express_intents.kind': kind, 'express_intents.way': way }),
  ],
  payment_late: () => [count('express_intents.payments.late')],
  payment_settled: ({ late, lagMs }) => [
    count('express_intents.payments.settled', { 'express_intents.late': late }),
    add('express_intents.settlement.lag', seconds(lagMs)),
  ],
  payment_reversed: ({ wasSettled }) => [
    count('express_intents.payments.reversed', { 'express_intents.was_settled': wasSettled }),
  ],
  payment_expired: () => [count('express_intents.payments.expired')],
  hook_completed: hookDuration('ok'),
  hook_failed: hookDuration('failed'),
  dead_letter: ({ hook }) => [count('express_intents.dead_letters', { 'express_intents.hook': hook })],
  login_completed: () => [count('express_intents.logins.completed')],
  login_refused: ({ code }) => [count('express_intents.logins.refused', { 'error.type': code })],
  logged_out: () => [count('express_intents.logouts')],
  webhook_received: () => [count('express_intents.webhooks.received')],
  webhook_refused: ({ code }) => [count('express_intents.webhooks.refused', { 'error.type': code })],
  rate_limited: ({ route }) => [count('express_intents.rate_limited', { 'express_intents.route': route })],
  stream_opened: () => [count('express_intents.streams.open')],
  stream_closed: () => [add('express_intents.streams.open', -1)],
  stream_refused: ({ code }) => [count('express_intents.streams.refused', { 'error.type': code })],
  upstream_call: upstream,
  breaker_opened: ({ operation }) => [
    count('express_intents.breakers.open', { 'express_intents.operation': operation }),
  ],
  breaker_closed: ({ operation }) => [
    add('express_intents.breakers.open', -1, { 'express_intents.operation': operation }),
  ],
  ledger_unavailable: () => [count('express_intents.ledger.outages')],
  ledger_back: () => [],
};

export const routerEventTypes = Object.keys(measures) as readonly RouterEventType[];

/** What an event adds to which metrics. */
export function measurementsOf(event: RouterEvent): readonly Measurement[] {
  // Each function is for the events of its own type, which the compiler does not see through a union.
  return (measures[event.type] as (event: RouterEvent) => readonly Measurement[])(event);
}
