import type { Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import type { OpenTelemetryApi } from './open-telemetry.js';

/** Starts a span; one that nobody sees where the SDK, or something that the app has put into it, fails. */
export function startQuietly(
  api: OpenTelemetryApi,
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  parent: Context,
): Span {
  try {
    return tracer.startSpan(name, options, parent);
  } catch {
    return api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT);
  }
}

/** Does something with a span. Nothing that is traced may fail because it is. */
export function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // The SDK tells of it by itself.
  }
}
