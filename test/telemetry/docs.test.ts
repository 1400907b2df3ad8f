import { readFileSync } from 'node:fs';
import { metrics } from '../../src/telemetry/metrics.js';
import type { RouterEventType } from '../../src/telemetry/router-event.js';

/** The compiler refuses a type that is missing, or one too many. */
const eventTypes = Object.keys({
  intent_created: true,
  intent_replayed: true,
  intent_failed: true,
  code_scanned: true,
  intent_declined: true,
  intent_submitted: true,
  payment_late: true,
  payment_settled: true,
  payment_reversed: true,
  payment_expired: true,
  hook_completed: true,
  hook_failed: true,
  dead_letter: true,
  login_completed: true,
  login_failed: true,
  logged_out: true,
  webhook_received: true,
  webhook_rejected: true,
  rate_limited: true,
  stream_opened: true,
  stream_closed: true,
  stream_rejected: true,
  upstream_call: true,
  breaker_opened: true,
  breaker_closed: true,
  ledger_unavailable: true,
  ledger_recovered: true,
} satisfies Record<RouterEventType, true>);

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const events = read('events.md');
const page = read('telemetry.md');

/** The rows of the table under a heading, each as its cells. */
function rowsUnder(heading: string, text = page): string[][] {
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | ?\|$/g, '').trim()));
}

const bare = (cell = ''): string => cell.replaceAll('`', '');

describe('docs/events.md and docs/telemetry.md', () => {
  test('list every event, in the order of the union', () => {
    expect(rowsUnder('List of events', events).map(([type]) => bare(type))).toEqual(eventTypes);
  });

  test('list every metric with its kind, unit and description', () => {
    const documented = rowsUnder('Metrics').map(([name, kind, unit, counts = '']) => [
      bare(name),
      [kind, bare(unit), counts.replace(/^\w/, (letter) => letter.toUpperCase())],
    ]);
    expect(documented).toEqual(
      Object.entries(metrics).map(([name, { kind, unit, description }]) => [name, [kind, unit, description]]),
    );
  });

  test('list the attributes of every metric', () => {
    const everything = { kind: 'payment', code: 'too_busy', source: 'status', late: true, lagMs: 1, wasSettled: true };
    const details = {
      ...everything,
      hook: 'onPaid',
      durationMs: 1,
      route: 'intent',
      operation: 'a.b',
      transport: 'http',
    };
    const attributesOf = (pointOf: unknown): string[] => {
      const [, attributes] = (pointOf as (event: object) => [number, object])({
        ...details,
        outcome: 'ok',
        attempts: 1,
      });
      return Object.keys(attributes);
    };
    const given = Object.entries(metrics).map(([name, { sources }]) => [
      name,
      [...new Set(Object.values(sources).flatMap(attributesOf))].sort(),
    ]);
    const documented = rowsUnder('Metrics').map(([name, , , , attributes = '']) => [
      bare(name),
      [...attributes.matchAll(/`([a-z_]+\.[a-z_.]+)`/g)].map(([, attribute]) => attribute).sort(),
    ]);
    expect(documented).toEqual(given);
  });
});
