import { createRequire } from 'node:module';
import type { Meter, Tracer } from '@opentelemetry/api';
import { type AskWaiting, Instruments } from './instruments.js';
import type { TelemetryProviders } from './telemetry-option.js';
import { Tracing } from './tracing.js';
import type { Upstream } from './upstream-call.js';

/** `@opentelemetry/api`, which is the app's own. */
export type OpenTelemetryApi = typeof import('@opentelemetry/api');

const require = createRequire(import.meta.url);
/** The app's own has been loaded by whoever registered an SDK: this takes no time then. */
const loadApi = (): OpenTelemetryApi => require('@opentelemetry/api');

/** By this name the spans and metrics of the package are known. */
const scope = 'express-intents';

/** Spans, to the provider that is given or else to the one that is registered, also later. */
export function startTracing({ tracerProvider }: TelemetryProviders, upstream: Upstream): Tracing {
  const api = loadApi();
  const given = tracerProvider?.getTracer(scope) as Tracer | undefined;
  return new Tracing(api, given ?? api.trace.getTracer(scope), upstream);
}

/** Metrics; undefined while no provider is registered, because a meter of nobody stays one of nobody. */
export function startMetrics(
  { meterProvider }: TelemetryProviders,
  askWaiting: AskWaiting | undefined,
): Instruments | undefined {
  const api = loadApi();
  const meter = (meterProvider?.getMeter(scope) as Meter | undefined) ?? api.metrics.getMeter(scope);
  return meter === api.createNoopMeter() ? undefined : new Instruments(meter, askWaiting);
}
