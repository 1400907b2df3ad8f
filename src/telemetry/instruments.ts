import type { Counter, Histogram, Meter, ObservableGauge, UpDownCounter } from '@opentelemetry/api';
import { measurementsOf } from './measurements.js';
import { type MetricName, metrics } from './metrics.js';
import type { RouterEvent } from './router-event.js';

/** In seconds; up to a day, because a payment settles late when a hook was failing. */
const secondBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600, 86_400];

/** What is asked for whenever metrics are collected. */
export type AskWaiting = () => Promise<Waiting>;

/** What waits in the ledger. */
export interface Waiting {
  readonly due: number;
  readonly oldestDueMs: number;
  readonly deadLetters: number;
}

/** The instruments of one router: takes events, and gives what waits in the ledger when it is asked. */
export class Instruments {
  readonly #counters = new Map<MetricName, Counter | UpDownCounter>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #stopWatching: () => void;

  /** @param askWaiting undefined where there is no ledger */
  constructor(meter: Meter, askWaiting: AskWaiting | undefined) {
    for (const name of Object.keys(metrics) as MetricName[]) this.#make(meter, name);
    this.#stopWatching = askWaiting ? watchWaiting(meter, askWaiting) : () => undefined;
  }

  record(event: RouterEvent): void {
    for (const { name, value, attributes } of measurementsOf(event)) {
      this.#counters.get(name)?.add(value, attributes);
      this.#histograms.get(name)?.record(value, attributes);
    }
  }

  close(): void {
    this.#stopWatching();
  }

  #make(meter: Meter, name: MetricName): void {
    const [kind, unit, description] = metrics[name];
    const options = { unit, description };
    if (kind === 'counter') this.#counters.set(name, meter.createCounter(name, options));
    if (kind === 'upDownCounter') this.#counters.set(name, meter.createUpDownCounter(name, options));
    if (kind === 'histogram') {
      const advice = { explicitBucketBoundaries: secondBuckets };
      this.#histograms.set(name, meter.createHistogram(name, { ...options, advice }));
    }
  }
}

/** All in one question. A ledger that does not answer has no value, and the next collection asks again. */
function watchWaiting(meter: Meter, askWaiting: AskWaiting): () => void {
  const gaugeOf = (name: MetricName): ObservableGauge => {
    const [, unit, description] = metrics[name];
    return meter.createObservableGauge(name, { unit, description });
  };
  const [due, oldest, dead] = [
    gaugeOf('express_intents.ledger.due'),
    gaugeOf('express_intents.ledger.oldest_due'),
    gaugeOf('express_intents.ledger.dead'),
  ];
  const gauges = [due, oldest, dead];
  const watch: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    const waiting = await askWaiting().catch(() => undefined);
    if (!waiting) return;
    result.observe(due, waiting.due);
    result.observe(oldest, waiting.oldestDueMs / 1_000);
    result.observe(dead, waiting.deadLetters);
  };
  meter.addBatchObservableCallback(watch, gauges);
  return () => meter.removeBatchObservableCallback(watch, gauges);
}
