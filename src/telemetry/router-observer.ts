import { errorText } from '../describe-error.js';
import { IntentError } from '../errors.js';
import { hasOpenTelemetry, OpenTelemetry, type TelemetryOption, type Upstream } from './open-telemetry.js';
import type { Observer, OnEvent, RouterEvent, RouterEventPayload } from './router-event.js';

export interface ObserverOptions {
  readonly onEvent: OnEvent | undefined;
  readonly telemetry: TelemetryOption | undefined;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
  /** For tests. Default: `Date.now`, and `performance.now` for ages. */
  readonly now: (() => number) | undefined;
}

/** Undefined if there is no listener, and OpenTelemetry is off or not installed. */
export function routerObserver(options: ObserverOptions): RouterObserver | undefined {
  const { onEvent, telemetry = hasOpenTelemetry(), upstream, logger } = options;
  if (!onEvent && telemetry === false) return undefined;
  const providers = typeof telemetry === 'object' ? telemetry : {};
  return new RouterObserver(
    options,
    telemetry === false ? undefined : new OpenTelemetry({ providers, upstream, logger }),
  );
}

interface Operation {
  readonly service: string;
  readonly method: string;
}

const nameOf = ({ service, method }: Operation): string => `${service}.${method}`;

/** Delivers events to OpenTelemetry and, asynchronously, to the site's listener. Observes the calls to the service. */
export class RouterObserver implements Observer {
  readonly openTelemetry: OpenTelemetry | undefined;
  readonly #listener: ((event: RouterEvent) => void) | undefined;
  readonly #options: ObserverOptions;
  /** Milliseconds since 1970. */
  readonly #now: () => number;

  constructor(options: ObserverOptions, openTelemetry: OpenTelemetry | undefined) {
    const { onEvent, logger, now: monotonicNow = () => performance.now() } = options;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.openTelemetry = openTelemetry;
    this.#listener = onEvent && eventListener(onEvent, logger, monotonicNow);
  }

  readonly emit = (payload: RouterEventPayload): void => {
    if (!this.#listener && !this.openTelemetry?.accepts(payload.type)) return;
    const { type, ...details } = payload;
    // TypeScript cannot infer that the fields match `type`.
    const event = { type, atMs: this.#now(), ...details } as RouterEvent;
    this.openTelemetry?.record(event);
    this.#listener?.(event);
  };

  /** Observes one call to the service; undefined without a subscriber. */
  begin(operation: Operation) {
    if (!this.#hasSubscriber()) return undefined;
    const { transport } = this.#options.upstream;
    const span = this.openTelemetry?.startCall(operation);
    const startedAtMs = performance.now();
    let attempts = 0;
    return {
      metadata: span?.metadata,
      run: (send: () => Promise<Uint8Array>): Promise<Uint8Array> => {
        attempts += 1;
        return span ? span.run(send) : send();
      },
      end: (failure: unknown, isCanceled: boolean): void => {
        const outcome = outcomeOf(failure, isCanceled);
        span?.end(outcome, attempts, failure);
        const durationMs = Math.round(performance.now() - startedAtMs);
        this.emit({ type: 'upstream_call', operation: nameOf(operation), transport, outcome, attempts, durationMs });
      },
    };
  }

  breakerChanged(operation: Operation, isOpen: boolean): void {
    this.emit({ type: isOpen ? 'breaker_opened' : 'breaker_closed', operation: nameOf(operation) });
  }

  #hasSubscriber(): boolean {
    return this.#listener !== undefined || (this.openTelemetry?.isActive() ?? false);
  }
}

function outcomeOf(
  failure: unknown,
  isCanceled: boolean,
): Extract<RouterEventPayload, { readonly type: 'upstream_call' }>['outcome'] {
  if (failure === undefined) return 'ok';
  if (failure instanceof IntentError) return failure.code;
  return isCanceled ? 'canceled' : 'internal_error';
}

/** A failing listener usually fails for every event. */
const warningIntervalMs = 60_000;

/** Calls a listener asynchronously, in the async context of the event. Not awaited. Its errors are only logged. Exported for tests. */
function eventListener(
  onEvent: OnEvent,
  logger: ObserverOptions['logger'],
  now: () => number,
): (event: RouterEvent) => void {
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const call = async (event: RouterEvent): Promise<void> => {
    try {
      await onEvent(event);
    } catch (error) {
      if (now() - warnedAtMs < warningIntervalMs) return;
      warnedAtMs = now();
      logger.warn('express-intents: onEvent failed. Payments and logins are unaffected.', {
        message: errorText(error).slice(0, 200),
      });
    }
  };
  return (event) => void setImmediate(call, event);
}
