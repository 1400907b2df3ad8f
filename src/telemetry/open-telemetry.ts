import { createRequire } from 'node:module';
import type { Attributes, Context, Meter, Span, Tracer } from '@opentelemetry/api';
import { SequencerError } from '../errors.js';
import { Instruments, type ReadWaiting } from './metrics.js';
import type { RouterEvent, UpstreamTransport } from './router-event.js';
import type { TelemetryProviders } from './telemetry-option.js';

/** `@opentelemetry/api`, which is the app's own. */
type Api = typeof import('@opentelemetry/api');

/** By this name the spans and metrics of the package are known. */
const scope = 'express-intents';
/** Where every copy of the API of this major version keeps what was registered with it. */
const registry = Symbol.for('opentelemetry.js.api.1');
/** In a context with this key instrumentations make no spans and write no headers. */
const suppressTracing = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';
/** What a propagator writes and the service is sent. Baggage is the app's own. */
const traceHeaders: readonly string[] = ['traceparent', 'tracestate'];
/** These have a span of their own, or outlive every span. */
const notOnSpans: ReadonlySet<string> = new Set(['upstream_call', 'stream_opened', 'stream_closed']);

/** The service that is called. */
export interface Upstream {
  readonly transport: UpstreamTransport;
  /** Host and port; undefined where the site brings its own transport. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** @param url of the service; no other part of it is recorded */
export function upstreamOf(transport: UpstreamTransport, url: string | undefined): Upstream {
  if (transport === 'custom' || url === undefined || !URL.canParse(url)) {
    return { transport, address: undefined, port: undefined };
  }
  const { hostname, port, protocol } = new URL(url);
  return { transport, address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

/** One call to the service as a client span, over all its tries. */
export interface TracedCall {
  /** `traceparent`, and `tracestate` where there is one. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Makes a try inside of the span. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  end(outcome: string, tries: number, failure: unknown): void;
}

export interface OpenTelemetryOptions {
  readonly providers: TelemetryProviders;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
}

/**
 * The subscriber of the router's events that makes spans and metrics of them, and traces the calls to the service.
 *
 * - waiting: no SDK is registered, and the API is not loaded. An app may register its SDK after the router is made, so each event
 *   checks again.
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

  /** Whether spans or metrics are taken by now. */
  isActive(): boolean {
    if (!this.#isClosed && !this.#instruments) this.#start();
    return !this.#isClosed && this.#tracer !== undefined;
  }

  watchLedger(readWaiting: ReadWaiting): void {
    this.#readWaiting = readWaiting;
  }

  close(): void {
    this.#isClosed = true;
    this.#instruments?.close();
  }

  note(event: RouterEvent): void {
    if (!this.isActive()) return;
    this.#instruments?.record(event);
    if (event.type === 'hook_completed' || event.type === 'hook_failed') this.#traceHook(event);
    else if (!notOnSpans.has(event.type)) this.#api?.trace.getActiveSpan()?.addEvent(event.type, attributesOf(event));
  }

  /** Undefined where no spans are taken, or the SDK throws. */
  startCall({ service, method }: { readonly service: string; readonly method: string }): TracedCall | undefined {
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
    try {
      const parent = api.context.active();
      const span = tracer.startSpan(`${service}/${method}`, { kind: api.SpanKind.CLIENT, attributes }, parent);
      const context = api.trace.setSpan(parent, span);
      // An instrumentation of the HTTP client would write the same header once more, and two of them count as none.
      const inside = transport === 'custom' ? context : context.setValue(api.createContextKey(suppressTracing), true);
      return {
        metadata: traceHeadersOf(api, context),
        run: (send) => api.context.with(inside, send),
        end: (outcome, tries, failure) => quietly(() => endCall(api, span, { outcome, tries, failure })),
      };
    } catch {
      return undefined;
    }
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
      // A meter that is made before a provider is registered stays without one.
      if (meter !== api.createNoopMeter()) this.#instruments = new Instruments(meter, this.#readWaiting);
    } catch (error) {
      this.#isClosed = true;
      const message = error instanceof Error ? error.message : String(error);
      this.#options.logger.warn('express-intents: telemetry is off, because OpenTelemetry failed.', { message });
    }
  }

  /** The span of a hook is made when it has ended. */
  #traceHook(event: Extract<RouterEvent, { readonly type: 'hook_completed' | 'hook_failed' }>): void {
    const { type, hook, attempt, intent, ms } = event;
    const attributes = {
      'express_intents.hook': hook,
      'express_intents.hook.attempt': attempt,
      'express_intents.intent.id': intent,
    };
    const endMs = Date.now();
    const span = this.#tracer?.startSpan(`hook ${hook}`, { attributes, startTime: endMs - ms });
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
  readonly tries: number;
  readonly failure: unknown;
}

function endCall({ SpanStatusCode }: Api, span: Span, { outcome, tries, failure }: CallEnd): void {
  span.setAttributes({ 'express_intents.outcome': outcome, 'express_intents.tries': tries });
  const { httpStatus } = failure instanceof SequencerError ? failure : {};
  if (httpStatus !== undefined) span.setAttribute('http.response.status_code', httpStatus);
  // A caller who has disconnected says nothing about the service.
  if (outcome !== 'ok' && outcome !== 'cancelled') {
    span.setAttribute('error.type', outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** The fields of an event. The text of an error stays out: it is the app's own. */
function attributesOf(event: RouterEvent): Attributes {
  const { type: _type, atMs: _atMs, ...details } = event;
  const named = Object.entries(details).flatMap(([name, value]) => {
    if (value === undefined || name === 'error') return [];
    const attribute = name === 'intent' ? 'intent.id' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [[`express_intents.${attribute}`, value] as const];
  });
  return Object.fromEntries(named) as Attributes;
}

/** An SDK that fails changes nothing else; it reports its errors through its own logger. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // See above.
  }
}
