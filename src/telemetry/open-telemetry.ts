import { createRequire } from 'node:module';
import type { Attributes, Context, Meter, Span, Tracer } from '@opentelemetry/api';
import { findPackage } from '../async/optional-package.js';
import { type ConfigProblem, messageOf, SequencerError } from '../errors.js';
import { Instruments } from './metrics.js';
import type { ReadLedgerBacklog, RouterEvent, UpstreamTransport } from './router-event.js';

/** Providers for spans and metrics, instead of those registered with `@opentelemetry/api`. */
export interface TelemetryProviders {
  /** A `TracerProvider` of OpenTelemetry. Default: the registered one. */
  readonly tracerProvider?: { getTracer(name: string, version?: string): object } | undefined;
  /** A `MeterProvider` of OpenTelemetry. Default: the registered one. */
  readonly meterProvider?: { getMeter(name: string, version?: string): object } | undefined;
}

/** The option `telemetry`. */
export type TelemetryOption = boolean | TelemetryProviders;

/** Whether `@opentelemetry/api` is installed. Does not load it. */
export function hasOpenTelemetry(): boolean {
  return findPackage('@opentelemetry/api') !== undefined;
}

export function problemsOfTelemetry(option: TelemetryOption | undefined): ConfigProblem[] {
  if (option === undefined || option === false) return [];
  if (!hasOpenTelemetry()) {
    const problem = 'The package @opentelemetry/api is not installed.';
    return [{ setting: 'telemetry', problem, fix: 'npm install @opentelemetry/api' }];
  }
  if (option === true) return [];
  const { tracerProvider, meterProvider, ...others } = option;
  const isWrong =
    Object.keys(others).length > 0 ||
    (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function') ||
    (meterProvider !== undefined && typeof meterProvider?.getMeter !== 'function');
  if (!isWrong) return [];
  const fix = 'telemetry: true, or telemetry: { tracerProvider, meterProvider } of OpenTelemetry';
  return [{ setting: 'telemetry', problem: 'It must be a boolean, or an object with OpenTelemetry providers.', fix }];
}

export interface Upstream {
  readonly transport: UpstreamTransport;
  /** Undefined for a custom transport, as is `port`. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** @param url of the service. Only host and port are recorded. */
export function upstreamOf(transport: UpstreamTransport, url: string | undefined): Upstream {
  if (transport === 'custom' || url === undefined || !URL.canParse(url)) {
    return { transport, address: undefined, port: undefined };
  }
  const { hostname, port, protocol } = new URL(url);
  return { transport, address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

/** The client span of one call to the service, including all attempts. */
export interface CallSpan {
  /** `traceparent`, and `tracestate` if present. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Runs one attempt inside the span. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  end(outcome: string, attempts: number, failure: unknown): void;
}

export interface OpenTelemetryOptions {
  readonly providers: TelemetryProviders;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
}

/** The module `@opentelemetry/api` of the app. */
type Api = typeof import('@opentelemetry/api');

/** The instrumentation scope of the spans and metrics. */
const scope = 'express-intents';
/** Where every copy of the API of this major version registers its SDK. */
const registry = Symbol.for('opentelemetry.js.api.1');
/** In a context with this key, instrumentations create no spans and write no headers. */
const suppressTracing = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';
/** The propagated headers that are sent to the service. Baggage is not sent. */
const traceHeaders: readonly string[] = ['traceparent', 'tracestate'];
/** Events that have their own span or may outlive the active span. */
const notOnSpans: ReadonlySet<string> = new Set(['upstream_call', 'stream_opened', 'stream_closed']);
/** Events that change the number of open streams or circuit breakers. */
const openChanges: Partial<Record<RouterEvent['type'], number>> = {
  stream_opened: 1,
  stream_closed: -1,
  breaker_opened: 1,
  breaker_closed: -1,
};

/**
 * Creates spans and metrics from router events, and traces the calls to the service. Never throws.
 *
 * - waiting: no SDK is registered, and the API is not loaded. Each event checks again, because the app may register its SDK after
 *   creating the router.
 * - tracing: the API is loaded. Metrics start once a meter provider is registered.
 * - closed: `close` was called, or the providers threw, which is logged once.
 */
export class OpenTelemetry {
  readonly #options: OpenTelemetryOptions;
  #api: Api | undefined;
  #tracer: Tracer | undefined;
  #instruments: Instruments | undefined;
  #readBacklog: ReadLedgerBacklog | undefined;
  #isClosed = false;
  /** What is open before the metrics start, by kind: an opening event, and the number. */
  readonly #open = new Map<string, { readonly opened: RouterEvent; readonly count: number }>();

  constructor(options: OpenTelemetryOptions) {
    this.#options = options;
  }

  /** Whether the state is `tracing`. */
  isActive(): boolean {
    if (!this.#isClosed && !this.#instruments) this.#start();
    return !this.#isClosed && this.#tracer !== undefined;
  }

  /** Whether {@link record} uses such an event. Without an SDK it only counts what is open. */
  accepts(type: RouterEvent['type']): boolean {
    return this.isActive() || type in openChanges;
  }

  /** Adds the gauges of the ledger. Call before the first event. */
  watchLedger(readBacklog: ReadLedgerBacklog): void {
    this.#readBacklog = readBacklog;
  }

  close(): void {
    this.#isClosed = true;
    this.#instruments?.close();
  }

  record(event: RouterEvent): void {
    const isActive = this.isActive();
    if (!this.#instruments && !this.#isClosed) this.#countOpen(event);
    if (!isActive) return;
    ignoreErrors(() => {
      this.#instruments?.record(event);
      if (event.type === 'hook_completed' || event.type === 'hook_failed') this.#traceHook(event);
      else if (!notOnSpans.has(event.type)) this.#api?.trace.getActiveSpan()?.addEvent(event.type, attributesOf(event));
    });
  }

  /** Undefined if no SDK is registered, or the SDK throws. */
  startCall({ service, method }: { readonly service: string; readonly method: string }): CallSpan | undefined {
    if (!this.isActive()) return undefined;
    const [api, tracer] = [this.#api as Api, this.#tracer as Tracer];
    const { transport, address, port } = this.#options.upstream;
    const name = `${service}/${method}`;
    const attributes = {
      'rpc.system.name': transport === 'grpc' ? 'grpc' : 'express_intents',
      'rpc.method': name,
      'express_intents.transport': transport,
      ...(address !== undefined && { 'server.address': address, 'server.port': port }),
    };
    return ignoreErrors(() => {
      const parent = api.context.active();
      const span = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, parent);
      const context = api.trace.setSpan(parent, span);
      // Suppresses the HTTP client instrumentation, which would duplicate the headers and so invalidate them.
      const inside = transport === 'custom' ? context : context.setValue(api.createContextKey(suppressTracing), true);
      return {
        metadata: traceHeadersOf(api, context),
        run: (send) => api.context.with(inside, send),
        end: (outcome, attempts, failure) =>
          ignoreErrors(() => endCall(api, span, { outcome, attempts, failure, transport })),
      };
    });
  }

  #start(): void {
    const { tracerProvider, meterProvider } = this.#options.providers;
    if (!(tracerProvider || meterProvider || Reflect.has(globalThis, registry))) return;
    try {
      // The app has loaded it to register its SDK, so this takes no time.
      this.#api ??= createRequire(import.meta.url)('@opentelemetry/api') as Api;
      const api = this.#api;
      this.#tracer ??= (tracerProvider?.getTracer(scope) as Tracer | undefined) ?? api.trace.getTracer(scope);
      const meter = (meterProvider?.getMeter(scope) as Meter | undefined) ?? api.metrics.getMeter(scope);
      // A meter made before a provider is registered stays a no-op.
      if (meter === api.createNoopMeter()) return;
      this.#instruments = new Instruments(meter, this.#readBacklog);
      for (const { opened, count } of this.#open.values()) {
        for (let each = 0; each < count; each += 1) this.#instruments.record(opened);
      }
      this.#open.clear();
    } catch (error) {
      this.#isClosed = true;
      const details = { message: messageOf(error) };
      this.#options.logger.warn(
        'express-intents: OpenTelemetry failed, so telemetry is off. Check its setup and restart.',
        details,
      );
    }
  }

  #countOpen(event: RouterEvent): void {
    const change = openChanges[event.type];
    if (change === undefined) return;
    const kind = 'operation' in event ? `breaker of ${event.operation}` : 'stream';
    const { opened, count } = this.#open.get(kind) ?? { opened: event, count: 0 };
    if (count + change > 0) this.#open.set(kind, { opened, count: count + change });
    else this.#open.delete(kind);
  }

  /** Creates the span of a hook after it has ended. */
  #traceHook(event: Extract<RouterEvent, { readonly type: 'hook_completed' | 'hook_failed' }>): void {
    const { type, hook, attempt, intent, durationMs } = event;
    const attributes = {
      'express_intents.hook': hook,
      'express_intents.hook.attempt': attempt,
      'express_intents.intent.id': intent,
    };
    const endMs = Date.now();
    const span = this.#tracer?.startSpan(`hook ${hook}`, { attributes, startTime: endMs - durationMs });
    if (type === 'hook_failed' && this.#api) span?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    span?.end(endMs);
  }
}

function traceHeadersOf({ propagation }: Api, context: Context): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context, carrier);
  return Object.fromEntries(Object.entries(carrier).filter(([name]) => traceHeaders.includes(name)));
}

interface CallEnd {
  readonly outcome: string;
  readonly attempts: number;
  readonly failure: unknown;
  readonly transport: UpstreamTransport;
}

function endCall({ SpanStatusCode }: Api, span: Span, { outcome, attempts, failure, transport }: CallEnd): void {
  span.setAttributes({ 'express_intents.outcome': outcome, 'express_intents.attempts': attempts });
  const { httpStatus } = failure instanceof SequencerError ? failure : {};
  // Over gRPC it is not the status of a response.
  if (httpStatus !== undefined && transport !== 'grpc') span.setAttribute('http.response.status_code', httpStatus);
  // A disconnected caller is not an error of the service.
  if (outcome !== 'ok' && outcome !== 'canceled') {
    span.setAttribute('error.type', outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The fields of an event, without error messages: those belong to the app. */
function attributesOf(event: RouterEvent): Attributes {
  const { type: _type, atMs: _atMs, ...details } = event;
  const named = Object.entries(details).flatMap(([name, value]) => {
    if (value === undefined || name === 'error') return [];
    const attribute = name === 'intent' ? 'intent.id' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [[`express_intents.${attribute}`, value] as const];
  });
  return Object.fromEntries(named) as Attributes;
}

/** A failing SDK must not affect the router. It reports errors through its own logger. */
function ignoreErrors<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
