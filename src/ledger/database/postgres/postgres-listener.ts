import type { Client, ClientConfig } from 'pg';
import { Backoff } from '../../../async/backoff.js';

/** From one failure to the next attempt, with half of each delay random. */
const reconnect = { firstMs: 250, capMs: 2_000, spread: 0.5 } as const;
/** A silent connection is checked this often, because its other end may be gone. */
const pingMs = 15_000;

export interface PostgresListenerOptions {
  readonly ClientOfPg: typeof Client;
  readonly config: ClientConfig;
  readonly channel: string;
  readonly hear: (payload: string) => void;
}

/**
 * Listens to a channel of Postgres (LISTEN) over a connection of its own, until `close`. It reconnects after any failure.
 * Messages sent in the meantime are lost. A pooler in transaction mode lets none through.
 */
export class PostgresListener {
  readonly #options: PostgresListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #reconnecting = new Backoff(reconnect);
  #isClosed = false;

  constructor(options: PostgresListenerOptions) {
    this.#options = options;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  async #connect(): Promise<void> {
    const { ClientOfPg, config, channel, hear } = this.#options;
    let client: Client | undefined;
    const reconnect = (): void => this.#reconnect(client);
    try {
      // The constructor reads the certificates of the URL, which may be missing while they are replaced.
      client = new ClientOfPg(config);
      this.#client = client;
      client.on('error', reconnect).on('end', reconnect);
      client.on('notification', ({ payload = '' }) => hear(payload));
      await client.connect();
      await client.query(`listen ${channel}`);
      this.#reconnecting.reset();
      this.#ping(client);
    } catch {
      reconnect();
    }
  }

  #ping(client: Client): void {
    if (client !== this.#client) return;
    this.#timer = setTimeout(() => {
      client.query('select 1').then(
        () => this.#ping(client),
        () => this.#reconnect(client),
      );
    }, pingMs).unref();
  }

  /** Does nothing for a connection that was replaced already. */
  #reconnect(client: Client | undefined): void {
    if (client !== this.#client) return;
    this.#disconnect();
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#connect(), this.#reconnecting.nextMs()).unref();
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
  }
}
