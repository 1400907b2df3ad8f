import type { AskWaiting, Instruments } from './instruments.js';
import type { TelemetryProviders } from './telemetry-option.js';
import type { Tracing } from './tracing.js';
import type { Upstream } from './upstream-call.js';

/**
 * Where every copy of the API of this major version keeps what was registered with it, be it a provider of spans, one of
 * metrics or a way to keep contexts.
 */
const registry = Symbol.for('opentelemetry.js.api.1');

export interface SignalsOptions {
  readonly providers: TelemetryProviders;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
}

type OpenTelemetry = typeof import('./open-telemetry.js');

/**
 * Spans and metrics, from when on somebody takes them. An app may well register its SDK after the router was made, so that
 * is looked at each time, until there is one; to look costs nothing that can be measured. Only then what makes them is
 * loaded, and until it has there are none.
 */
export class Signals {
  readonly #options: SignalsOptions;
  #loading: Promise<void> | undefined;
  #loaded: OpenTelemetry | undefined;
  #tracing: Tracing | undefined;
  #instruments: Instruments | undefined;
  #askWaiting: AskWaiting | undefined;
  #isClosed = false;

  constructor(options: SignalsOptions) {
    this.#options = options;
    this.#look();
  }

  /** Undefined while nobody takes spans. */
  get tracing(): Tracing | undefined {
    if (!this.#tracing) this.#look();
    return this.#tracing;
  }

  /** Undefined while nobody takes metrics. */
  get instruments(): Instruments | undefined {
    if (!this.#instruments) this.#look();
    return this.#instruments;
  }

  /** From now on what waits in the ledger is asked for when metrics are collected. */
  watchLedger(askWaiting: AskWaiting): void {
    this.#askWaiting = askWaiting;
  }

  /** Resolves when what is registered now is told of everything. */
  async ready(): Promise<void> {
    await this.#loading;
  }

  close(): void {
    this.#isClosed = true;
    this.#instruments?.close();
  }

  #look(): void {
    const { tracerProvider, meterProvider } = this.#options.providers;
    if (this.#isClosed || !(tracerProvider || meterProvider || Reflect.has(globalThis, registry))) return;
    if (this.#loaded) this.#start(this.#loaded);
    else this.#loading ??= this.#load();
  }

  async #load(): Promise<void> {
    try {
      this.#loaded = await import('./open-telemetry.js');
      this.#look();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #start({ startTracing, startMetrics }: OpenTelemetry): void {
    const { providers, upstream } = this.#options;
    try {
      this.#tracing ??= startTracing(providers, upstream);
      this.#instruments ??= startMetrics(providers, this.#askWaiting);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** Told once: what does not work now will not at the next request either. */
  #giveUp(error: unknown): void {
    this.#isClosed = true;
    const message = error instanceof Error ? error.message : String(error);
    this.#options.logger.warn('express-intents: there is no telemetry, since OpenTelemetry has failed.', { message });
  }
}
