import { createRequire } from 'node:module';
import type { Attributes, Context, Meter, Span, Tracer } from '@opentelemetry/api';
import { findPackage } from '../async/optional-package.js';
import { type ConfigProblem, messageOf, SequencerError } from '../errors.js';
import { Instruments } from './metrics.js';
import type { ReadWaiting, RouterEvent, UpstreamTransport } from './router-event.js';

/** Where spans and metrics go, instead of to what is registered with `@opentelemetry/api`. */
export interface TelemetryProviders {
  /** A `TracerProvider` of OpenTelemetry. Default: the one that is registered. */
  readonly tracerProvider?: { getTracer(name: string, version?: string): object } | undefined;
  /** A `MeterProvider` of OpenTelemetry. Default: the one that is registered. */
  readonly meterProvider?: { getMeter(name: string, version?: string): object } | undefined;
}

/** The option `telemetry`. */
export type TelemetryOption = boolean | TelemetryProviders;

/** Whether the app has installed `@opentelemetry/api`. Does not load it. */
export function hasOpenTelemetry(): boolean {
  return findPackage('@opentelemetry/api') !== undefined;
}

/** The problems of the option `telemetry`. */
export function problemsOfTelemetry(option: TelemetryOption | undefined): ConfigProblem[] {
  if (option === undefined || option === false) return [];
  if (!hasOpenTelemetry()) {
    const problem = 'It needs the package @opentelemetry/api, which is missing.';
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
  return [{ setting: 'telemetry', problem: 'It names something that is not a provider.', fix: fix }];
}

/** The service that is called. */
export interface Upstream {
  readonly transport: UpstreamTransport;
  /** Host and port; undefined where the site has its own transport. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** @param url of the service; only host and port are recorded */
export function upstreamOf(transport: UpstreamTransport, url: string | undefined): Upstream {
  if (transport === 'custom' || url === undefined || !URL.canParse(url)) {
    return { transport, address: undefined, port: undefined };
  }
  const { hostname, port, protocol } = new URL(url);
  return { transport, address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

/** The client span of one call to the service, over all its attempts. */
export interface CallSpan {
  /** `traceparent`, and `tracestate` where there is one. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Runs one try inside the span. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  end(outcome: string, attempts: number, failure: unknown): void;
}

export interface OpenTelemetryOptions {
  readonly providers: TelemetryProviders;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
}

/** `@opentelemetry/api` as the app has it. */
type Api = typeof import('@opentelemetry/api');

/** The instrumentation scope of the spans and metrics. */
const scope = 'express-intents';
/** Where every copy of the API of this major version registers its SDK. */
const registry = Symbol.for('opentelemetry.js.api.1');
/** In a context with this key instrumentations make no spans and write no headers. */
const suppressTracing = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';
/** The headers of a propagator that the service is sent. Baggage stays in the app. */
const traceHeaders: readonly string[] = ['traceparent', 'tracestate'];
/** These have a span of their own, or outlive every span. */
const notOnSpans: ReadonlySet<string> = new Set(['upstream_call', 'stream_opened', 'stream_closed']);

/**
 * The subscriber that makes spans and metrics of router events, and traces the calls to the service. It never throws.
 *
 * - waiting: no SDK is registered, and the API is not loaded. An app may register its SDK after it makes the router, so each
 *   event checks again.
 * - tracing: the API is loaded. Metrics follow once a meter provider is registered.
 * - closed: by `close`, or because the providers threw, which is logged once.
 */
export class OpenTelemetry {
  readonly #options: OpenTelemetryOptions;
  #api: Api | undefined;
  #tracer: Tracer | undefined;
  #instruments: Instruments | undefined;
  #readWaiting: ReadWaiting | undefined;
  #isClosed = false;

  constructor(options: OpenTelemetryOptions) {
    this.#options = options;
  }

  /** Whether an SDK takes spans or metrics by now. */
  isActive(): boolean {
    if (!this.#isClosed && !this.#instruments) this.#start();
    return !this.#isClosed && this.#tracer !== undefined;
  }

  /** Measures what waits in the ledger, from the start of the metrics on. */
  watchLedger(readWaiting: ReadWaiting): void {
    this.#readWaiting = readWaiting;
  }

  close(): void {
    this.#isClosed = true;
    this.#instruments?.close();
  }

  record(event: RouterEvent): void {
    if (!this.isActive()) return;
    ignoreErrors(() => {
      this.#instruments?.record(event);
      if (event.type === 'hook_completed' || event.type === 'hook_failed') this.#traceHook(event);
      else if (!notOnSpans.has(event.type)) this.#api?.trace.getActiveSpan()?.addEvent(event.type, attributesOf(event));
    });
  }

  /** Undefined where no spans are taken, or the SDK throws. */
  startCall({ service, method }: { readonly service: string; readonly method: string }): CallSpan | undefined {
    if (!this.isActive()) return undefined;
    const [api, tracer] = [this.#api as Api, this.#tracer as Tracer];
    const { transport, address, port } = this.#options.upstream;
    const attributes = {
      'rpc.system': transport === 'grpc' ? 'grpc' : 'express_intents',
      'rpc.service': service,
      'rpc.method': method,
      'express_intents.transport': transport,
      ...(address !== undefined && { 'server.address': address, 'server.port': port }),
    };
    return ignoreErrors(() => {
      const parent = api.context.active();
      const span = tracer.startSpan(`${service}/${method}`, { kind: api.SpanKind.CLIENT, attributes }, parent);
      const context = api.trace.setSpan(parent, span);
      // An instrumentation of the HTTP client would write the headers a second time, and receivers ignore duplicates.
      const inside = transport === 'custom' ? context : context.setValue(api.createContextKey(suppressTracing), true);
      return {
        metadata: traceHeadersOf(api, context),
        run: (send) => api.context.with(inside, send),
        end: (outcome, attempts, failure) => ignoreErrors(() => endCall(api, span, { outcome, attempts, failure })),
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
      if (meter !== api.createNoopMeter()) this.#instruments = new Instruments(meter, this.#readWaiting);
    } catch (error) {
      this.#isClosed = true;
      const details = { message: messageOf(error) };
      this.#options.logger.warn('express-intents: telemetry is off, because OpenTelemetry failed.', details);
    }
  }

  /** Makes the span of a hook after the hook has ended. */
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
}

function endCall({ SpanStatusCode }: Api, span: Span, { outcome, attempts, failure }: CallEnd): void {
  span.setAttributes({ 'express_intents.outcome': outcome, 'express_intents.attempts': attempts });
  const { httpStatus } = failure instanceof SequencerError ? failure : {};
  if (httpStatus !== undefined) span.setAttribute('http.response.status_code', httpStatus);
  // A caller that disconnects says nothing about the service.
  if (outcome !== 'ok' && outcome !== 'cancelled') {
    span.setAttribute('error.type', outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The fields of an event, without the text of an error, which is the app's own. */
function attributesOf(event: RouterEvent): Attributes {
  const { type: _type, atMs: _atMs, ...details } = event;
  const named = Object.entries(details).flatMap(([name, value]) => {
    if (value === undefined || name === 'error') return [];
    const attribute = name === 'intent' ? 'intent.id' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [[`express_intents.${attribute}`, value] as const];
  });
  return Object.fromEntries(named) as Attributes;
}

/** An SDK that fails affects nothing else; it reports its errors through its own logger. */
function ignoreErrors<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
