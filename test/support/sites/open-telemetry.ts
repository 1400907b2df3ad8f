import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { MeterProvider, type MetricData, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { eventually } from '../eventually.js';
import { checkForSecrets } from '../runner/watch-for-leaks.js';

/** A reader that collects on request. */
class AskedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A real SDK that keeps spans and metrics in memory. */
export class TestTelemetry {
  readonly #exporter = new InMemorySpanExporter();
  readonly #reader = new AskedReader();
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] });

  /** Registers it, as an app does at startup. */
  register(): this {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
    trace.setGlobalTracerProvider(this.tracerProvider);
    metrics.setGlobalMeterProvider(this.meterProvider);
    return this;
  }

  /** The ended spans. */
  get spans(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  reset(): void {
    this.#exporter.reset();
  }

  /** Resolves with the spans of a name once there is one. */
  async named(name: string): Promise<ReadableSpan> {
    await eventually(`a span ${name}`, () => this.spans.some((span) => span.name === name));
    return this.spans.find((span) => span.name === name) as ReadableSpan;
  }

  /** All metrics by name. */
  async metrics(): Promise<Map<string, MetricData>> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    const all = resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'express-intents')
      .flatMap((one) => one.metrics);
    return new Map(all.map((one) => [one.descriptor.name, one]));
  }

  /** Checks everything that was recorded for secrets. */
  async lookForSecrets(): Promise<void> {
    const spans = this.spans.map(({ name, attributes, events, status, links }) => ({
      ...{ name, attributes, events, status, links },
    }));
    checkForSecrets('a span', JSON.stringify(spans));
    checkForSecrets('a metric', JSON.stringify([...(await this.metrics()).values()]));
  }
}

/** Reverts a registration, for the next test. */
export function unregister(): void {
  for (const api of [context, propagation, trace, metrics]) api.disable();
  // As in a process that never had an SDK.
  Reflect.deleteProperty(globalThis, Symbol.for('opentelemetry.js.api.1'));
}
