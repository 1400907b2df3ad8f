import type { Client, ClientConfig } from 'pg';

/** From one failure to the next try, doubled each time up to the second. */
const retryMs = { first: 250, longest: 2_000 } as const;
/** A connection on which nothing comes may be one that nobody has at its other end. */
const pingMs = 15_000;

export interface PostgresListenerOptions {
  readonly ClientOfPg: typeof Client;
  readonly config: ClientConfig;
  readonly channel: string;
  readonly hear: (payload: string) => void;
}

/**
 * Hears what is told on a channel of Postgres (LISTEN), over a connection of its own, which is made anew whenever it
 * breaks. What is told meanwhile is lost. A pooler that gives connections for a transaction only lets nothing through.
 */
export class PostgresListener {
  readonly #options: PostgresListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waitMs: number = retryMs.first;
  #isClosed = false;

  constructor(options: PostgresListenerOptions) {
    this.#options = options;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  async #connect(): Promise<void> {
    const { ClientOfPg, config, channel, hear } = this.#options;
    let client: Client | undefined;
    const lost = (): void => this.#lost(client);
    try {
      // It reads the certificates that the URL names, which may just be replaced.
      client = new ClientOfPg(config);
      this.#client = client;
      client.on('error', lost).on('end', lost);
      client.on('notification', ({ payload = '' }) => hear(payload));
      await client.connect();
      await client.query(`listen ${channel}`);
      this.#waitMs = retryMs.first;
      this.#ping(client);
    } catch {
      lost();
    }
  }

  #ping(client: Client): void {
    if (client !== this.#client) return;
    this.#timer = setTimeout(() => {
      client.query('select 1').then(
        () => this.#ping(client),
        () => this.#lost(client),
      );
    }, pingMs).unref();
  }

  /** Whatever has become of a connection: another one is made in a while. */
  #lost(client: Client | undefined): void {
    if (client !== this.#client) return;
    this.#leave();
    if (this.#isClosed) return;
    const waitMs = this.#waitMs * (0.5 + Math.random() / 2);
    this.#waitMs = Math.min(this.#waitMs * 2, retryMs.longest);
    this.#timer = setTimeout(() => void this.#connect(), waitMs).unref();
  }

  #leave(): void {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
  }
}
