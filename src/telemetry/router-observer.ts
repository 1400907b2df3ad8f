import { eventListener, type OnEvent } from './event-listener.js';
import type { AskWaiting } from './instruments.js';
import type { ObservedHook, ObservedRequest, Observer, RequestOutcome } from './observer.js';
import type { Happening, RouterEvent } from './router-event.js';
import { Signals } from './signals.js';
import { hasOpenTelemetry, type TelemetryOption } from './telemetry-option.js';
import type { Tracing } from './tracing.js';
import type { Upstream } from './upstream-call.js';
import { UpstreamCall } from './upstream-call.js';

export interface ObserverOptions {
  readonly onEvent: OnEvent | undefined;
  readonly telemetry: TelemetryOption | undefined;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/** Undefined where nobody listens, and nobody could take spans or metrics. */
export function routerObserver(options: ObserverOptions): RouterObserver | undefined {
  const { onEvent, telemetry = hasOpenTelemetry(), upstream, logger } = options;
  if (!onEvent && telemetry === false) return undefined;
  const providers = typeof telemetry === 'object' ? telemetry : {};
  const signals = telemetry === false ? undefined : new Signals({ providers, upstream, logger });
  return new RouterObserver(options, signals);
}

interface Operation {
  readonly service: string;
  readonly method: string;
}

const nameOf = ({ service, method }: Operation): string => `${service}.${method}`;

/** Passes on what happens: to spans and metrics at once, and to the site's listener in a turn of its own. */
export class RouterObserver implements Observer {
  readonly #signals: Signals | undefined;
  readonly #listener: ((event: RouterEvent) => void) | undefined;
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions, signals: Signals | undefined) {
    const { onEvent, logger, now } = options;
    this.#options = options;
    this.#signals = signals;
    this.#listener = onEvent && eventListener({ onEvent, logger, now });
  }

  readonly tell = (happening: Happening): void => {
    if (!this.#isHeard()) return;
    const { type, ...details } = happening;
    // The same fields and the time between them, which the compiler does not see through a union.
    const event = { type, atMs: this.#options.now(), ...details } as RouterEvent;
    try {
      this.#signals?.tracing?.note(event);
      this.#signals?.instruments?.record(event);
    } catch {
      // An SDK that fails changes nothing, and tells of it by itself.
    }
    this.#listener?.(event);
  };

  async route(request: ObservedRequest, answer: () => Promise<RequestOutcome>): Promise<void> {
    const tracing = this.#tracing();
    await (tracing ? tracing.route(request, answer) : answer());
  }

  settle(intent: string, work: () => Promise<void>): Promise<void> {
    return this.#tracing()?.settle(intent, work) ?? work();
  }

  hook<Value>(call: ObservedHook, run: () => Promise<Value>): Promise<Value> {
    return this.#tracing()?.hook(call, run) ?? run();
  }

  /** One call to the service; undefined where nobody would hear of it. */
  begin(operation: Operation): UpstreamCall | undefined {
    if (!this.#isHeard()) return undefined;
    const { upstream } = this.#options;
    const traced = this.#tracing()?.call(operation);
    return new UpstreamCall({ operation: nameOf(operation), upstream, traced, tell: this.tell });
  }

  breaker(operation: Operation, isOpen: boolean): void {
    this.tell({ type: isOpen ? 'breaker_opened' : 'breaker_closed', operation: nameOf(operation) });
  }

  watchLedger(askWaiting: AskWaiting): void {
    this.#signals?.watchLedger(askWaiting);
  }

  /** Resolves when an SDK that is registered now is told of everything. */
  async ready(): Promise<void> {
    await this.#signals?.ready();
  }

  close(): void {
    this.#signals?.close();
  }

  #tracing(): Tracing | undefined {
    return this.#signals?.tracing;
  }

  /** Nothing is made for nobody. */
  #isHeard(): boolean {
    return this.#listener !== undefined || this.#tracing() !== undefined || this.#signals?.instruments !== undefined;
  }
}
