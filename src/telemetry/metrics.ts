/**
 * Every metric, with its kind, its unit (UCUM) and what it counts. What goes into their attributes comes from closed sets:
 * kinds, codes, names of operations, hooks and routes. No id, no address and no path is ever among them.
 */
export const metrics = {
  'express_intents.intents.created': ['counter', '{intent}', 'Intents that were created'],
  'express_intents.intents.repeated': ['counter', '{intent}', 'Requests that got an earlier intent again'],
  'express_intents.intents.refused': ['counter', '{request}', 'Requests for an intent that were refused or failed'],
  'express_intents.intents.scanned': ['counter', '{intent}', 'Intents whose code was scanned while a page listened'],
  'express_intents.intents.declined': ['counter', '{intent}', 'Intents that were declined while a page listened'],
  'express_intents.intents.submitted': ['counter', '{intent}', 'Intents that were seen to be submitted'],
  'express_intents.payments.settled': ['counter', '{payment}', 'Payments that have settled'],
  'express_intents.payments.late': ['counter', '{payment}', 'Payments that were submitted late'],
  'express_intents.payments.reversed': ['counter', '{payment}', 'Payments that were taken back'],
  'express_intents.payments.expired': ['counter', '{payment}', 'Payments that nobody made'],
  'express_intents.settlement.lag': ['histogram', 's', 'From a payment known to be submitted to its settlement'],
  'express_intents.hook.duration': ['histogram', 's', 'Calls of the hooks of the ledger'],
  'express_intents.dead_letters': ['counter', '{payment}', 'Payments that were given up to a person'],
  'express_intents.ledger.due': ['gauge', '{payment}', 'Payments that should have been looked at by now'],
  'express_intents.ledger.oldest_due': ['gauge', 's', 'How long the oldest of them has waited'],
  'express_intents.ledger.dead': ['gauge', '{payment}', 'Dead letters in the ledger'],
  'express_intents.ledger.outages': ['counter', '{outage}', 'Times that the ledger could not be reached'],
  'express_intents.logins.completed': ['counter', '{login}', 'Logins that began a session'],
  'express_intents.logins.refused': ['counter', '{request}', 'Requests for a session that were refused or failed'],
  'express_intents.logouts': ['counter', '{request}', 'Requests to log out'],
  'express_intents.webhooks.received': ['counter', '{call}', 'Webhook calls of the service'],
  'express_intents.webhooks.refused': ['counter', '{call}', 'Webhook calls that were refused'],
  'express_intents.rate_limited': ['counter', '{request}', 'Requests of addresses that have asked too often'],
  'express_intents.streams.open': ['upDownCounter', '{stream}', 'Streams of events that are open'],
  'express_intents.streams.refused': ['counter', '{stream}', 'Streams of events for which no place was free'],
  'express_intents.upstream.duration': ['histogram', 's', 'Calls to the sequencer, over all their tries'],
  'express_intents.upstream.tries': ['counter', '{try}', 'Tries of calls to the sequencer'],
  'express_intents.breakers.open': ['upDownCounter', '{breaker}', 'Operations that are left alone'],
} as const satisfies Record<string, readonly ['counter' | 'upDownCounter' | 'histogram' | 'gauge', string, string]>;

export type MetricName = keyof typeof metrics;
