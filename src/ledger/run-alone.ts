import type { Client, ClientConfig } from 'pg';
import { bounded } from './bounded.js';

export interface AloneOptions {
  readonly ClientOfPg: typeof Client;
  readonly config: ClientConfig;
  readonly sql: string;
  readonly signal: AbortSignal;
}

/** Runs one statement over a connection that is there for nothing else, and is cut when the signal is aborted. */
export async function runAlone({ ClientOfPg, config, sql, signal }: AloneOptions): Promise<void> {
  const client = new ClientOfPg(config);
  // What breaks it is told to whoever waits for the statement.
  client.on('error', () => undefined);
  try {
    await bounded(signal, async () => {
      await client.connect();
      await client.query(sql);
    });
  } finally {
    client.end().catch(() => undefined);
  }
}
