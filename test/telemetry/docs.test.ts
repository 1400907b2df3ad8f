import { readFileSync } from 'node:fs';
import { measurementsOf, routerEventTypes } from '../../src/telemetry/measurements.js';
import { metrics } from '../../src/telemetry/metrics.js';
import type { RouterEvent } from '../../src/telemetry/router-event.js';

const page = readFileSync(new URL('../../docs/telemetry.md', import.meta.url), 'utf8');

/** The rows of the table under a heading, each as its cells. */
function rowsUnder(heading: string, text = page): string[][] {
  const [, section = ''] = text.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | ?\|$/g, '').trim()));
}

const bare = (cell = ''): string => cell.replaceAll('`', '');

describe('docs/telemetry.md', () => {
  test('has every event, in the order of the union', () => {
    expect(rowsUnder('Events').map(([type]) => bare(type))).toEqual(routerEventTypes);
  });

  test('has every metric, with its kind, its unit and what it counts', () => {
    const documented = rowsUnder('Metrics').map(([name, kind, unit, counts = '']) => [
      bare(name),
      [kind, bare(unit), counts.replace(/^\w/, (letter) => letter.toUpperCase())],
    ]);
    expect(documented).toEqual(Object.entries(metrics).map(([name, [...told]]) => [name, told]));
  });

  test('has the attributes that events give to metrics', () => {
    const everything = { kind: 'payment', code: 'too_busy', way: 'status', late: true, lagMs: 1, wasSettled: true };
    const details = { ...everything, hook: 'onPaid', ms: 1, route: 'intent', operation: 'a.b', transport: 'http' };
    const events = routerEventTypes.map((type) => ({ type, ...details, outcome: 'ok', tries: 1 }) as unknown);
    const given = new Map<string, Set<string>>();
    for (const { name, attributes } of events.flatMap((event) => measurementsOf(event as RouterEvent))) {
      given.set(name, new Set([...(given.get(name) ?? []), ...Object.keys(attributes)]));
    }
    const documented = rowsUnder('Metrics').map(([name, , , , attributes = '']) => [
      bare(name),
      [...attributes.matchAll(/`([a-z_]+\.[a-z_.]+)`/g)].map(([, attribute]) => attribute).sort(),
    ]);
    expect(documented).toEqual(Object.keys(metrics).map((name) => [name, [...(given.get(name) ?? [])].sort()]));
  });

  test('an event or a metric that is missing is noticed', () => {
    expect(rowsUnder('Events', page.replace('| `ledger_back`', '| `ledger_bak`'))).not.toEqual(rowsUnder('Events'));
    expect(rowsUnder('Metrics', page.replace('| `{try}`', '| `{tries}`'))).not.toEqual(rowsUnder('Metrics'));
  });
});

test('metrics are named and measured as the conventions say: dots and snake_case, UCUM, seconds', () => {
  for (const [name, [kind, unit, description]] of Object.entries(metrics)) {
    expect(name).toMatch(/^express_intents(?:\.[a-z]+(?:_[a-z]+)*)+$/);
    expect(unit).toMatch(kind === 'histogram' ? /^s$/ : kind === 'gauge' ? /^s$|^\{[a-z]+\}$/ : /^\{[a-z]+\}$/);
    expect(description).toMatch(/^[A-Z]/);
  }
});
