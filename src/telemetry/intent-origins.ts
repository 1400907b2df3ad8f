import type { SpanContext } from '@opentelemetry/api';

/** By which spans the intents were created, as far as that was here, and lately. */
export class IntentOrigins {
  /** The oldest comes first. */
  readonly #origins = new Map<string, SpanContext>();
  readonly #capacity: number;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  remember(intent: string, origin: SpanContext): void {
    this.#origins.set(intent, origin);
    if (this.#origins.size <= this.#capacity) return;
    const [oldest] = this.#origins.keys();
    if (oldest !== undefined) this.#origins.delete(oldest);
  }

  of(intent: string): SpanContext | undefined {
    return this.#origins.get(intent);
  }
}
