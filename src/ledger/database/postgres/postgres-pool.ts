import { Socket } from 'node:net';
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg';
import { requirePackage } from '../../../async/optional-package.js';
import { withTimeout } from '../../../async/timeout.js';
import { IntentError } from '../../../errors.js';
import { databaseOutage, ledgerClosed } from '../database-fault.js';
import { LivenessMonitor } from './liveness-monitor.js';
import { PostgresConnection } from './postgres-connection.js';
import { PostgresListener } from './postgres-listener.js';

/** All in milliseconds. */
export interface PostgresLimits {
  /** How long a call waits for a new or free connection. */
  readonly connectMs: number;
  /** Timeout of one statement, enforced by the server and, a second later, by the driver. */
  readonly statementMs: number;
  readonly closeMs: number;
}

const livenessTiming = { quietMs: 2_000, retryMs: 500 };
const probeMs = 2_000;

/**
 * Postgres may plan a prepared statement once for a connection, by the size of the tables at that time. After `analyze` it plans it
 * again. Where autovacuum is late or off, a new connection does that.
 */
const connectionSeconds = 300;

const allInUse = /^timeout exceeded when trying to connect/;

/** pgbouncer accepts few startup parameters. */
const isRefusedParameter = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '08P01' && /startup parameter/.test((error as Error).message);

/**
 * At most ten connections to Postgres, plus one for each listener and probe. If one breaks, it and the idle ones are dropped. If one
 * is outdated, all are.
 */
export class PostgresPool {
  readonly #Pool: typeof Pool;
  readonly #Client: typeof Client;
  readonly #url: string;
  readonly #limits: PostgresLimits;
  readonly #sockets = new Set<Socket>();
  readonly #monitor: LivenessMonitor;
  /**
   * The connections that were opened since one was found outdated. The others end with their call. The value is the set of named
   * statements that have worked; undefined if a pooler is in between.
   */
  #opened = new WeakMap<PoolClient, Set<string> | undefined>();
  #pool: Pool;
  #closing: Promise<void> | undefined;

  private constructor(pg: { Pool: typeof Pool; Client: typeof Client }, url: string, limits: PostgresLimits) {
    this.#Pool = pg.Pool;
    this.#Client = nonThrowingClient(pg.Client);
    this.#url = url;
    this.#limits = limits;
    this.#monitor = new LivenessMonitor({
      ...livenessTiming,
      probe: () => this.#probe(),
      onSilence: () => this.#destroySockets(),
    });
    this.#pool = this.#createPool({ statement_timeout: limits.statementMs });
  }

  /** Loads `pg`. Does not connect. @throws {ConfigError} with how to install it */
  static async load(url: string, limits: PostgresLimits): Promise<PostgresPool> {
    requirePackage('pg');
    const { default: pg } = await import('pg');
    return new PostgresPool(pg, url, limits);
  }

  async acquire(): Promise<PostgresConnection> {
    if (this.#closing) throw ledgerClosed();
    this.#monitor.throwIfSilent();
    try {
      const client = await this.#monitor.track(() => this.#connect());
      return new PostgresConnection(client, this.#monitor, this.#opened.get(client));
    } catch (error) {
      if (error instanceof Error && allInUse.test(error.message)) {
        const message =
          'All ten database connections of this process are in use. Keep transactions short, or run more processes.';
        throw new IntentError('ledger_unavailable', message, { cause: error });
      }
      throw databaseOutage('Cannot connect to the database', error);
    }
  }

  release({ client, isBroken, isOutdated }: PostgresConnection): void {
    if (isOutdated && this.#opened.has(client)) this.#opened = new WeakMap();
    client.release(isBroken || !this.#opened.has(client));
    if (isBroken) this.#dropIdle();
  }

  listen(channel: string, onMessage: (payload: string) => void): PostgresListener {
    // Unreferenced: it must not keep the process alive.
    const config = { ...this.#settings(), stream: () => this.#createSocket().unref() };
    return new PostgresListener({ ClientOfPg: this.#Client, config, channel, onMessage });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #connect(): Promise<PoolClient> {
    const client = await this.#takeClient();
    if (this.#opened.has(client)) return client;
    try {
      this.#opened.set(client, (await this.#isDirect(client)) ? new Set() : undefined);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /**
   * Whether no pooler is between this process and the server. A pooler announces a process id of its own. It may run each
   * transaction on another connection of the server, where a statement is not prepared.
   */
  async #isDirect(client: PoolClient): Promise<boolean> {
    const { processID } = client as { readonly processID?: unknown };
    const query = { text: 'select pg_backend_pid()::text as pid', query_timeout: this.#limits.connectMs };
    const { rows } = await client.query<{ pid: string }>(query);
    return rows[0]?.pid === String(processID);
  }

  async #takeClient(): Promise<PoolClient> {
    const pool = this.#pool;
    try {
      return await pool.connect();
    } catch (error) {
      if (!isRefusedParameter(error)) throw error;
      if (pool === this.#pool) {
        pool.end().catch(ignore);
        this.#pool = this.#createPool({});
      }
      return this.#pool.connect();
    }
  }

  #createPool(parameters: { readonly statement_timeout?: number }): Pool {
    const Client = this.#Client;
    const limits = { max: 10, allowExitOnIdle: true, maxLifetimeSeconds: connectionSeconds };
    const pool = new this.#Pool({ ...this.#settings(), Client, ...limits, ...parameters });
    // The pool removes an idle connection that breaks.
    pool.on('error', ignore);
    // If a connection breaks in use, or while it is acquired, its next statement fails.
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  }

  #settings(): PoolConfig {
    const { connectMs, statementMs } = this.#limits;
    return {
      connectionString: this.#url,
      application_name: 'express-intents',
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs + 1_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      stream: () => this.#createSocket(),
    };
  }

  #createSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    // While the database is silent, a caller that waits in the pool would get this socket and wait again.
    if (this.#monitor.isSilent) process.nextTick(() => socket.destroy(silenceError()));
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  /** What broke one connection has probably broken the idle ones too. Each would make a call wait for its timeout. */
  #dropIdle(): void {
    for (let count = this.#pool.idleCount; count > 0; count -= 1) {
      this.#pool.connect().then((client) => client.release(true), ignore);
    }
  }

  async #probe(): Promise<void> {
    const stream = (): Socket => new Socket().unref();
    const client = new this.#Client({
      ...this.#settings(),
      stream,
      connectionTimeoutMillis: probeMs,
      query_timeout: probeMs,
    });
    client.on('error', ignore);
    try {
      await client.connect();
      await client.query('select');
    } finally {
      void client.end().catch(ignore);
    }
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy(silenceError());
  }

  async #close(): Promise<void> {
    this.#monitor.close();
    const ended = this.#pool.end();
    // The server may not answer.
    await withTimeout(this.#limits.closeMs, () => ended).catch(ignore);
    for (const socket of this.#sockets) socket.destroySoon();
  }
}

const silenceError = (): Error => new Error('Connection terminated, because the database stopped responding');

function ignore(): void {}

/**
 * A pg client whose constructor never throws. The constructor of pg reads the certificate files of the URL, and throws if a
 * file is missing. The pool constructs clients outside any `try`, so that would end the process. This client rejects
 * `connect` instead.
 */
function nonThrowingClient(ClientOfPg: typeof Client): typeof Client {
  function NonThrowingClient(config: ClientConfig): Client {
    try {
      return new ClientOfPg(config);
    } catch (failure) {
      // Without `stream`: this client never connects its socket, so nothing may keep it, or end it with an error.
      const { stream: _stream, ...others } = config;
      const client = new ClientOfPg({ ...others, connectionString: 'postgres://localhost' });
      // `connect` takes a callback or returns a promise.
      client.connect = ((done?: (error: unknown) => void) =>
        done ? process.nextTick(done, failure) : Promise.reject(failure)) as Client['connect'];
      return client;
    }
  }
  // `new` returns what a constructor function returns.
  return NonThrowingClient as unknown as typeof Client;
}
