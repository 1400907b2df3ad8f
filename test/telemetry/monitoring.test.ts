import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { Instruments, metrics } from '../../src/telemetry/metrics.js';
import type { RouterEvent } from '../../src/telemetry/router-event.js';
import { anchorsOf, textOf } from '../docs/guides.js';
import { root } from '../package/consumer-project.js';

// The alert rules and the dashboard of docs/examples/monitoring, against the metrics of the router.

const read = (name: string): string => readFileSync(join(root, 'docs/examples/monitoring', name), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const { groups } = parse(read('alerts.yaml')) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(read('dashboard.json')) as { readonly panels: readonly Panel[] };
const targets = dashboard.panels.flatMap((panel) => panel.targets);

const underscored = (name: string): string => name.replace(/[^a-zA-Z0-9]/g, '_');

/**
 * The Prometheus series of an OpenTelemetry metric (OpenTelemetry specification, "Prometheus and OpenMetrics Compatibility"):
 * other characters become underscores, units in braces disappear, seconds and totals become suffixes.
 */
function seriesOf(name: string, { kind, unit }: { readonly kind: string; readonly unit: string }): string[] {
  const full = underscored(name) + (unit === 's' ? '_seconds' : '');
  if (kind === 'histogram') return ['_bucket', '_count', '_sum'].map((suffix) => full + suffix);
  return [kind === 'counter' ? `${full}_total` : full];
}

/** Every series with the labels of its attributes. */
const known = new Map(
  Object.entries(metrics).flatMap(([name, metric]) => {
    const row =
      new RegExp(`^\\| \`${name.replaceAll('.', '\\.')}\`.*$`, 'm').exec(textOf('docs/telemetry.md'))?.[0] ?? '';
    const attributes = row.split(' | ').at(-1) ?? '';
    const labels = [...attributes.matchAll(/`([a-z_]+\.[a-z_.]+)`/g)].map(([, attribute = '']) =>
      underscored(attribute),
    );
    return seriesOf(name, metric).map((series) => [series, [...labels, 'le']] as const);
  }),
);

/** The series that the exporter for scraping serves, which adds no unit to a name. */
const scraped = new Set<string>();

beforeAll(async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [exporter] });
  const backlog = { due: 1, oldestDueMs: 1, deadLetters: 1 };
  const instruments = new Instruments(provider.getMeter('express-intents'), async () => backlog);
  for (const type of Object.values(metrics).flatMap(({ sources }) => Object.keys(sources))) {
    instruments.record({ type, durationMs: 1, lagMs: 1, attempts: 1 } as unknown as RouterEvent);
  }
  const { resourceMetrics } = await exporter.collect();
  const text = new PrometheusSerializer().serialize(resourceMetrics);
  for (const [, name = ''] of text.matchAll(/^(\w+)\{/gm)) scraped.add(name);
  await provider.shutdown();
});

/** What is wrong in a query, over OTLP or when it is scraped. */
function problemsOf(query: string): string[] {
  const expr = query.replaceAll('$__rate_interval', '5m');
  const found: string[] = [];
  const used = { series: [] as string[], labels: [] as string[] };
  parser.parse(expr).iterate({
    enter: ({ type, from, to, node }) => {
      const text = expr.slice(from, to);
      if (type.isError) found.push(`syntax error at ${JSON.stringify(expr.slice(from, from + 20))}`);
      else if (type.name === 'Identifier') used.series.push(text);
      else if (type.name === 'LabelName' && text === '__name__') {
        const value = node.nextSibling?.nextSibling;
        used.series.push(expr.slice((value?.from ?? 0) + 1, (value?.to ?? 0) - 1));
      } else if (type.name === 'LabelName') used.labels.push(text);
    },
  });
  const matching = (names: Iterable<string>, series: string): string[] =>
    [...names].filter((name) => new RegExp(`^(?:${series})$`).test(name));
  for (const series of used.series) {
    if (matching(known.keys(), series).length === 0) found.push(`no series ${series}`);
    else if (matching(scraped, series).length === 0) found.push(`no series ${series} when scraped`);
  }
  const labels = new Set(
    used.series.flatMap((series) => matching(known.keys(), series)).flatMap((name) => known.get(name) ?? []),
  );
  found.push(...used.labels.filter((label) => !labels.has(label)).map((label) => `no label ${label}`));
  return used.series.length > 0 ? found : [...found, 'no series'];
}

const labelsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, label = '']) => label);

describe('a query with', () => {
  test.each([
    ['a missing parenthesis', 'max(express_intents_ledger_dead_letters', 'syntax error'],
    ['an unknown metric', 'max(express_intents_ledger_death)', 'no series express_intents_ledger_death'],
    [
      'a name that only OTLP has',
      'max(express_intents_ledger_oldest_due_seconds)',
      'no series express_intents_ledger_oldest_due_seconds when scraped',
    ],
    ['a label of another metric', 'sum by (express_intents_route) (express_intents_streams_open)', 'no label'],
  ])('%s is detected', (_name, query, problem) => {
    expect(problemsOf(query).join()).toContain(problem);
  });
});

describe('alerts.yaml', () => {
  test.each(alerts.map((alert) => [alert.alert, alert] as const))(
    '%s uses existing metrics and labels',
    (_name, alert) => {
      expect(problemsOf(alert.expr)).toEqual([]);
      const grouped = labelsIn(alert.expr, /by \((\w+)\)/g);
      const shown = labelsIn(alert.annotations.summary, /\$labels\.(\w+)/g);
      expect(shown.filter((label) => !grouped.includes(label))).toEqual([]);
    },
  );

  test.each(alerts.map((alert) => [alert.alert, alert] as const))(
    '%s has a severity, a summary and a page',
    (_name, alert) => {
      expect(['critical', 'warning']).toContain(alert.labels.severity);
      expect(alert.annotations.summary).toMatch(/\.$/);
      const [page = '', anchor = ''] = alert.annotations.runbook.split('#');
      expect(anchorsOf(textOf(page))).toContain(anchor);
    },
  );

  test('docs/alerts.md lists the same alerts, with the same pages', () => {
    const rows = [...textOf('docs/alerts.md').matchAll(/^\| `(Intent\w+)` \|.*\]\(([^)]+)\) \|$/gm)];
    expect(rows.map(([, name, page]) => [name, `docs/${page}`])).toEqual(
      alerts.map(({ alert, annotations }) => [alert, annotations.runbook]),
    );
  });
});

describe('dashboard.json', () => {
  test('uses existing metrics and labels', () => {
    expect(targets.flatMap(({ expr }) => problemsOf(expr))).toEqual([]);
    expect(targets.length).toBeGreaterThan(15);
  });

  test('shows only labels that its queries group by', () => {
    for (const { expr, legendFormat } of targets) {
      const grouped = labelsIn(expr, /by \(([^)]+)\)/g).flatMap((list) => list.split(', '));
      expect(labelsIn(legendFormat, /\{\{(\w+)\}\}/g).filter((label) => !grouped.includes(label))).toEqual([]);
    }
  });
});
