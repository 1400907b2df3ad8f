import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import { IntentError } from '../errors.js';
import { IntentOrigins } from './intent-origins.js';
import type { ObservedHook, ObservedRequest, RequestOutcome } from './observer.js';
import type { OpenTelemetryApi } from './open-telemetry.js';
import { quietly, startQuietly } from './quiet-span.js';
import type { RouterEvent } from './router-event.js';
import { type TracedCall, tracedCall } from './traced-call.js';
import type { Upstream } from './upstream-call.js';

/** Names of methods that requests are known by; anybody can make up another. */
const knownMethods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * The spans of one router. What is told while one of them is the innermost is an event of it, so that a trace tells the same
 * story as the listener.
 */
export class Tracing {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  readonly #upstream: Upstream;
  /** Under which a context has our own innermost span: spans of the app may be inside of it. */
  readonly #ownSpan: symbol;
  readonly #origins = new IntentOrigins();

  constructor(api: OpenTelemetryApi, tracer: Tracer, upstream: Upstream) {
    this.#api = api;
    this.#tracer = tracer;
    this.#upstream = upstream;
    this.#ownSpan = api.createContextKey('express-intents span');
  }

  async route(request: ObservedRequest, answer: () => Promise<RequestOutcome>): Promise<void> {
    const method = knownMethods.includes(request.method) ? request.method : '_OTHER';
    const attributes = {
      'http.request.method': method,
      'http.route': request.route,
      ...(request.intent !== undefined && { 'express_intents.intent.id': shortened(request.intent) }),
    };
    const parent = this.#api.context.active();
    const span = this.#start(`${method} ${request.route}`, { attributes }, parent);
    await this.#inside(span, parent, async () => {
      const { status, code } = await answer();
      quietly(() => {
        if (status !== undefined) span.setAttribute('http.response.status_code', status);
        if (code !== undefined) span.setAttribute('error.type', code);
        if (status !== undefined && status >= 500) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      });
    });
  }

  /** A trace of its own, which a worker begins; linked to the request that has created the intent, if it was here. */
  async settle(intent: string, work: () => Promise<void>): Promise<void> {
    const origin = this.#origins.of(intent);
    const attributes = { 'express_intents.intent.id': intent };
    const links = origin ? [{ context: origin }] : [];
    const parent = this.#api.ROOT_CONTEXT;
    const span = this.#start('settle payment', { root: true, attributes, links }, parent);
    await this.#inside(span, parent, work);
  }

  hook<Value>({ hook, intent, attempt }: ObservedHook, run: () => Promise<Value>): Promise<Value> {
    const attributes = {
      'express_intents.hook': hook,
      'express_intents.hook.attempt': attempt,
      'express_intents.intent.id': intent,
    };
    const parent = this.#api.context.active();
    return this.#inside(this.#start(`hook ${hook}`, { attributes }, parent), parent, run);
  }

  call(operation: { readonly service: string; readonly method: string }): TracedCall {
    return tracedCall(this.#api, this.#tracer, this.#upstream, operation);
  }

  /** What has happened is an event of the span in which it did. Texts of errors stay out: they are the app's own. */
  note(event: RouterEvent): void {
    const span = this.#api.context.active().getValue(this.#ownSpan) as Span | undefined;
    if (!span || untraced.has(event.type)) return;
    if (event.type === 'intent_created') this.#origins.remember(event.intent, span.spanContext());
    if (!span.isRecording()) return;
    const attributes = attributesOf(event);
    span.addEvent(event.type, attributes);
    for (const name of ['express_intents.intent.id', 'express_intents.kind']) {
      const value = attributes[name];
      if (value !== undefined) span.setAttribute(name, value);
    }
  }

  #start(name: string, options: SpanOptions, parent: Context): Span {
    return startQuietly(this.#api, this.#tracer, name, options, parent);
  }

  async #inside<Value>(span: Span, parent: Context, work: () => Promise<Value>): Promise<Value> {
    const context = this.#api.trace.setSpan(parent, span).setValue(this.#ownSpan, span);
    try {
      return await this.#api.context.with(context, work);
    } catch (error) {
      quietly(() => {
        span.setAttribute('error.type', errorType(error));
        span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      });
      throw error;
    } finally {
      quietly(() => span.end());
    }
  }
}

/** These have a span of their own, or outlive every span. */
const untraced: ReadonlySet<string> = new Set(['upstream_call', 'stream_opened', 'stream_closed']);

/** What of an event goes onto a span. */
function attributesOf(event: RouterEvent): Attributes {
  const {
    type: _type,
    atMs: _atMs,
    intent,
    error: _error,
    ...details
  } = event as RouterEvent & {
    readonly intent?: string;
    readonly error?: string;
  };
  const named = Object.entries(details).map(([name, value]) => [`express_intents.${snakeCase(name)}`, value]);
  const id = intent === undefined ? {} : { 'express_intents.intent.id': intent };
  return { ...id, ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Anything can stand where an id should. */
const shortened = (id: string): string => id.slice(0, 64);

/** Of a closed set: codes of ours, else the name of a class. */
function errorType(error: unknown): string {
  if (error instanceof IntentError) return error.code;
  const name = error instanceof Error ? error.name : '';
  return /^\w{1,64}$/.test(name) ? name : '_OTHER';
}
