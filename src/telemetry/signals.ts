import type { Meter, Tracer } from '@opentelemetry/api';
import { type AskWaiting, Instruments } from './instruments.js';
import { loadApi, type OpenTelemetryApi, registeredApi } from './open-telemetry-api.js';
import type { TelemetryProviders } from './telemetry-option.js';
import { Tracing } from './tracing.js';
import type { Upstream } from './upstream.js';

export interface SignalsOptions {
  readonly providers: TelemetryProviders;
  readonly upstream: Upstream;
}

/** By this name the spans and metrics of the package are known. */
const scope = 'express-intents';

/**
 * Spans and metrics, from when on somebody takes them. An app may well register its SDK after the router was made, so that
 * is looked at each time, until there is one; to look costs nothing that can be measured.
 */
export class Signals {
  readonly #options: SignalsOptions;
  #tracing: Tracing | undefined;
  #instruments: Instruments | undefined;
  #askWaiting: AskWaiting | undefined;
  #isClosed = false;

  constructor(options: SignalsOptions) {
    this.#options = options;
  }

  /** Undefined while nobody takes spans. */
  get tracing(): Tracing | undefined {
    this.#tracing ??= this.#startTracing();
    return this.#tracing;
  }

  /** Undefined while nobody takes metrics. */
  get instruments(): Instruments | undefined {
    if (!this.#isClosed) this.#instruments ??= this.#startMetrics();
    return this.#instruments;
  }

  /** From now on what waits in the ledger is asked for when metrics are collected. */
  watchLedger(askWaiting: AskWaiting): void {
    this.#askWaiting = askWaiting;
    // Without an event there would be no metrics, and a worker that hangs has none.
    void this.instruments;
  }

  close(): void {
    this.#isClosed = true;
    this.#instruments?.close();
  }

  #startTracing(): Tracing | undefined {
    const { providers, upstream } = this.#options;
    const given = providers.tracerProvider?.getTracer(scope) as Tracer | undefined;
    const api = given ? loadApi() : registeredApi();
    return api && new Tracing(api, given ?? api.trace.getTracer(scope), upstream);
  }

  #startMetrics(): Instruments | undefined {
    const given = this.#options.providers.meterProvider?.getMeter(scope) as Meter | undefined;
    const meter = given ?? registeredMeter(registeredApi());
    return meter && new Instruments(meter, this.#askWaiting);
  }
}

/** A meter of nobody stays one of nobody, so there is none until a provider is registered. */
function registeredMeter(api: OpenTelemetryApi | undefined): Meter | undefined {
  const meter = api?.metrics.getMeter(scope);
  return meter === api?.createNoopMeter() ? undefined : meter;
}
