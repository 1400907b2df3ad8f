import { IntentError } from '../errors.js';
import type { ReadWaiting } from './metrics.js';
import { OpenTelemetry, type Upstream } from './open-telemetry.js';
import type { Observer, OnEvent, RouterEvent, RouterEventPayload } from './router-event.js';
import { hasOpenTelemetry, type TelemetryOption } from './telemetry-option.js';

export interface ObserverOptions {
  readonly onEvent: OnEvent | undefined;
  readonly telemetry: TelemetryOption | undefined;
  readonly upstream: Upstream;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/** Undefined where there is no listener, and OpenTelemetry is off or missing. */
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

type CallEnded = Extract<RouterEventPayload, { readonly type: 'upstream_call' }>;

/** Passes events on: to OpenTelemetry at once, and to the site's listener in a turn of its own. */
export class RouterObserver implements Observer {
  readonly #openTelemetry: OpenTelemetry | undefined;
  readonly #listener: ((event: RouterEvent) => void) | undefined;
  readonly #options: ObserverOptions;

  constructor(options: ObserverOptions, openTelemetry: OpenTelemetry | undefined) {
    const { onEvent, logger, now } = options;
    this.#options = options;
    this.#openTelemetry = openTelemetry;
    this.#listener = onEvent && eventListener(onEvent, logger, now);
  }

  readonly emit = (happening: RouterEventPayload): void => {
    if (!this.#isHeard()) return;
    const { type, ...details } = happening;
    // The same fields and the time between them, which the compiler does not see through a union.
    const event = { type, atMs: this.#options.now(), ...details } as RouterEvent;
    try {
      this.#openTelemetry?.note(event);
    } catch {
      // An SDK that fails changes nothing else; it reports its errors through its own logger.
    }
    this.#listener?.(event);
  };

  /** One call to the service; undefined without a subscriber. */
  begin(operation: Operation) {
    if (!this.#isHeard()) return undefined;
    const { transport } = this.#options.upstream;
    const traced = this.#openTelemetry?.startCall(operation);
    const begunAtMs = performance.now();
    let tries = 0;
    return {
      metadata: traced?.metadata,
      run: (send: () => Promise<Uint8Array>): Promise<Uint8Array> => {
        tries += 1;
        return traced ? traced.run(send) : send();
      },
      end: (failure: unknown, hasLeft: boolean): void => {
        const outcome = outcomeOf(failure, hasLeft);
        traced?.end(outcome, tries, failure);
        const ms = Math.round(performance.now() - begunAtMs);
        this.emit({ type: 'upstream_call', operation: nameOf(operation), transport, outcome, tries, ms });
      },
    };
  }

  breaker(operation: Operation, isOpen: boolean): void {
    this.emit({ type: isOpen ? 'breaker_opened' : 'breaker_closed', operation: nameOf(operation) });
  }

  watchLedger(readWaiting: ReadWaiting): void {
    this.#openTelemetry?.watchLedger(readWaiting);
  }

  close(): void {
    this.#openTelemetry?.close();
  }

  #isHeard(): boolean {
    return this.#listener !== undefined || (this.#openTelemetry?.isActive() ?? false);
  }
}

function outcomeOf(failure: unknown, hasLeft: boolean): CallEnded['outcome'] {
  if (failure === undefined) return 'ok';
  if (failure instanceof IntentError) return failure.code;
  return hasLeft ? 'cancelled' : 'internal_error';
}

/** A listener that throws at one event throws at all of them. */
const warningIntervalMs = 60_000;

/**
 * Calls a listener in a turn of its own, in the async context in which the event happened. Nothing waits for it, and nothing
 * sees it fail.
 */
export function eventListener(
  onEvent: OnEvent,
  logger: ObserverOptions['logger'],
  now: () => number,
): (event: RouterEvent) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const call = async (event: RouterEvent): Promise<void> => {
    try {
      await onEvent(event);
    } catch (error) {
      if (now() - warnedAt < warningIntervalMs) return;
      warnedAt = now();
      logger.warn('express-intents: onEvent has failed, which changes nothing else.', { message: messageOf(error) });
    }
  };
  return (event) => void setImmediate(call, event);
}

/** Anything can be thrown, also an object whose members throw. */
function messageOf(error: unknown): string {
  try {
    return (error instanceof Error ? error.message : String(error)).slice(0, 200);
  } catch {
    return 'An error that cannot be read.';
  }
}
