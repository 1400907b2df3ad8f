import type { Context, Span, Tracer } from '@opentelemetry/api';
import { SequencerError } from '../errors.js';
import type { OpenTelemetryApi } from './open-telemetry.js';
import { quietly, startQuietly } from './quiet-span.js';
import type { Upstream } from './upstream-call.js';

/** One call to the service as a span, over all its tries. */
export interface TracedCall {
  /** `traceparent`, and `tracestate` where there is one. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Makes a try inside of the span. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  tried(count: number, outcome: string): void;
  end(outcome: string, failure: unknown): void;
}

/** What is asked of the context of a request that no instrumentation is to make spans and headers for. */
const suppressTracing = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';

/** Of what a propagator writes, this tells where the trace goes on; baggage is the app's own, and not for the service. */
const handedOn: readonly string[] = ['traceparent', 'tracestate'];

export function tracedCall(
  api: OpenTelemetryApi,
  tracer: Tracer,
  upstream: Upstream,
  { service, method }: { readonly service: string; readonly method: string },
): TracedCall {
  const { transport, address, port } = upstream;
  const attributes = {
    'rpc.system': transport === 'grpc' ? 'grpc' : 'express_intents',
    'rpc.service': service,
    'rpc.method': method,
    'express_intents.transport': transport,
    ...(address !== undefined && { 'server.address': address, 'server.port': port }),
  };
  const kind = api.SpanKind.CLIENT;
  const parent = api.context.active();
  const span = startQuietly(api, tracer, `${service}/${method}`, { kind, attributes }, parent);
  const context = api.trace.setSpan(parent, span);
  // An instrumentation of the HTTP client would write the same header once more, and two of them count as none.
  const inside = transport === 'custom' ? context : context.setValue(api.createContextKey(suppressTracing), true);
  return {
    metadata: metadataOf(api, context),
    run: (send) => api.context.with(inside, send),
    tried: (count, outcome) =>
      quietly(() => span.addEvent('try', { 'express_intents.try': count, 'express_intents.outcome': outcome })),
    end: (outcome, failure) => quietly(() => end(api, span, outcome, failure)),
  };
}

function metadataOf({ propagation }: OpenTelemetryApi, context: Context): Record<string, string> {
  const carrier: Record<string, string> = {};
  quietly(() => propagation.inject(context, carrier));
  return Object.fromEntries(Object.entries(carrier).filter(([name]) => handedOn.includes(name)));
}

function end({ SpanStatusCode }: OpenTelemetryApi, span: Span, outcome: string, failure: unknown): void {
  span.setAttribute('express_intents.outcome', outcome);
  const { httpStatus } = failure instanceof SequencerError ? failure : {};
  if (httpStatus !== undefined) span.setAttribute('http.response.status_code', httpStatus);
  // Whoever left says nothing of the service.
  if (outcome !== 'ok' && outcome !== 'cancelled') {
    span.setAttribute('error.type', outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
