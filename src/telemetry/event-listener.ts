import type { RouterEvent } from './router-event.js';

/** The site's own function that is told of events. */
export type OnEvent = (event: RouterEvent) => void | Promise<void>;

interface ListenerOptions {
  readonly onEvent: OnEvent;
  readonly logger: { warn(message: string, details?: Record<string, unknown>): void };
  /** The time, ms since 1970. */
  readonly now: () => number;
}

/** Whoever throws at one event throws at all of them. */
const warningIntervalMs = 60_000;

/**
 * Tells a listener of events, each in a turn of its own after what was going on, so that nothing waits for the listener and
 * nothing sees it fail. It runs in the async context in which the event happened.
 */
export function eventListener({ onEvent, logger, now }: ListenerOptions): (event: RouterEvent) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (error: unknown): void => {
    if (now() - warnedAt < warningIntervalMs) return;
    warnedAt = now();
    logger.warn('express-intents: onEvent has failed, which changes nothing else.', { message: messageOf(error) });
  };
  const call = async (event: RouterEvent): Promise<void> => {
    try {
      await onEvent(event);
    } catch (error) {
      warn(error);
    }
  };
  return (event) => void setImmediate(call, event);
}

/** Anything can be thrown, also what itself throws when it is looked at. */
function messageOf(error: unknown): string {
  try {
    return (error instanceof Error ? error.message : String(error)).slice(0, 200);
  } catch {
    return 'An error that cannot be read.';
  }
}
