import { BoundedMap } from '../../async/bounded-map.js';

/** An intent is paid within minutes, or not at all. */
const ttlMs = 60 * 60 * 1000;

/**
 * The client secrets of the intents that this process has created.
 *
 * The request that opens an intent's stream upstream has to be signed by the rendezvous key, which is made of the client
 * secret; a browser that listens names the intent by its id alone, as it should. So the secrets stay here for as long as
 * a stream may be opened. Where one is missing, after a restart or in another process, the status is asked for instead.
 */
export class ClientSecrets {
  readonly #secrets: BoundedMap<string>;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(now: () => number, capacity = 100_000) {
    this.#secrets = new BoundedMap({ ttlMs, capacity, now });
  }

  /** How many are kept. */
  get size(): number {
    return this.#secrets.size;
  }

  remember(intentId: string, clientSecret: string): void {
    this.#secrets.set(intentId, clientSecret);
  }

  /** Undefined where it was never here, or is here no more. */
  of(intentId: string): string | undefined {
    return this.#secrets.get(intentId);
  }
}
