// Ours with somebody who looks on: a listener, or the SDK of OpenTelemetry, whose spans and metrics go nowhere.
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import ours from './ours.mjs';

const nowhere = { export: (_spans, done) => done({ code: 0 }), shutdown: async () => undefined };

class NeverReads extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** @param sampled registers an SDK: `true` records every span, `false` none */
export default function observed({ listens = false, sampled, ...options }) {
  if (sampled !== undefined) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    const sampler = sampled ? new AlwaysOnSampler() : new AlwaysOffSampler();
    const spanProcessors = [new BatchSpanProcessor(nowhere)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler, spanProcessors }));
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new NeverReads()] }));
  }
  const onEvent = listens ? () => undefined : undefined;
  return ours({
    ...options,
    ...(onEvent && { onEvent }),
    telemetry: sampled === undefined && listens ? false : undefined,
  });
}
