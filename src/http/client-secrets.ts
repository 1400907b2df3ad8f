/** An intent is paid within minutes, or not at all. */
const ttlMs = 60 * 60 * 1000;

/**
 * The client secrets of the intents that this process has created.
 *
 * The request that opens an intent's stream upstream has to be signed by the rendezvous key, which is made of the client
 * secret; a browser that listens names the intent by its id alone, as it should. So the secrets stay here for as long as
 * a stream may be opened. Where one is missing, after a restart or in another process, the status is asked for instead.
 * They are kept in private fields, which no log, no `inspect` and no JSON shows.
 */
export class ClientSecrets {
  // In the order of their end, because all last equally long.
  readonly #secrets = new Map<string, { readonly clientSecret: string; readonly endsAt: number }>();
  readonly #now: () => number;
  readonly #capacity: number;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(now: () => number, capacity = 100_000) {
    this.#now = now;
    this.#capacity = capacity;
  }

  /** How many are kept. */
  get size(): number {
    return this.#secrets.size;
  }

  remember(intentId: string, clientSecret: string): void {
    this.#dropEnded();
    if (this.#secrets.size >= this.#capacity) this.#dropOldest();
    this.#secrets.set(intentId, { clientSecret, endsAt: this.#now() + ttlMs });
  }

  /** Undefined where it was never here, or is here no more. */
  of(intentId: string): string | undefined {
    this.#dropEnded();
    return this.#secrets.get(intentId)?.clientSecret;
  }

  #dropEnded(): void {
    const now = this.#now();
    for (const [intentId, { endsAt }] of this.#secrets) {
      if (now < endsAt) return;
      this.#secrets.delete(intentId);
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#secrets.keys();
    if (oldest !== undefined) this.#secrets.delete(oldest);
  }
}
