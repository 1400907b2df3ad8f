import type { Client, ClientConfig } from 'pg';
import { Backoff } from '../../../async/backoff.js';

/** From a failure to the next attempt. */
const backoff = { firstMs: 250, capMs: 2_000, spread: 0.5 } as const;
/** How often the connection is checked: nothing else shows that the other end is gone. */
const pingMs = 15_000;

export interface PostgresListenerOptions {
  readonly ClientOfPg: typeof Client;
  readonly config: ClientConfig;
  readonly channel: string;
  readonly onMessage: (payload: string) => void;
}

/**
 * Listens to a channel of Postgres (LISTEN) over a connection of its own. Messages sent while it is disconnected are
 * lost. A pooler in transaction mode forwards none.
 *
 *     connecting -- LISTEN succeeds ----------> listening
 *     connecting, listening -- any failure ---> connecting, after a backoff
 *     any -- close ---------------------------> closed
 */
export class PostgresListener {
  readonly #options: PostgresListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #reconnecting = new Backoff(backoff);
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
    const { ClientOfPg, config, channel, onMessage } = this.#options;
    let client: Client | undefined;
    const reconnect = (): void => this.#reconnect(client);
    try {
      // Creating or connecting a client fails if a certificate file of the URL is missing, as during a renewal.
      client = new ClientOfPg(config);
      this.#client = client;
      client.on('error', reconnect).on('end', reconnect);
      client.on('notification', ({ payload = '' }) => onMessage(payload));
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

  /** Does nothing if the connection was already replaced. */
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
