import { Socket } from 'node:net';
import type { Client, Pool, PoolClient, PoolConfig } from 'pg';
import { requirePackage } from '../../../async/optional-package.js';
import { outage, unreachable } from '../database-fault.js';
import { PostgresPulse } from './liveness-monitor.js';
import { carefulClient } from './non-throwing-client.js';
import { PostgresListener } from './postgres-listener.js';

/** All in milliseconds. */
export interface PostgresBounds {
  /** Until there is a connection, a new one or one that others have given back. */
  readonly connectMs: number;
  /** Of one statement, kept by the server and, a second later, by this side. */
  readonly statementMs: number;
  /** Of what still runs when all is closed. */
  readonly closeMs: number;
}

/** A statement is slow for many reasons; two seconds without any answer are one to ask whether anybody is there. */
const pulseTiming = { quietMs: 2_000, againMs: 500 };
/** How long that question may take, in milliseconds. */
const probeMs = 2_000;

/** What pg-pool says where all of its connections are taken. */
const allTaken = /^timeout exceeded when trying to connect/;

/** pgbouncer in front of Postgres knows few parameters that a connection may begin with. */
const isRefusedParameter = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '08P01' && /startup parameter/.test((error as Error).message);

/** Connections to Postgres, at most ten, none of them kept once anything is wrong with it. */
export class PostgresPool {
  readonly #Pool: typeof Pool;
  readonly #Client: typeof Client;
  readonly #url: string;
  readonly #bounds: PostgresBounds;
  readonly #sockets = new Set<Socket>();
  readonly #pulse: PostgresPulse;
  #pool: Pool;
  #closing: Promise<void> | undefined;

  private constructor(pg: { Pool: typeof Pool; Client: typeof Client }, url: string, bounds: PostgresBounds) {
    this.#Pool = pg.Pool;
    this.#Client = carefulClient(pg.Client);
    this.#url = url;
    this.#bounds = bounds;
    this.#pulse = new PostgresPulse({ ...pulseTiming, probe: () => this.#probe(), onSilence: () => this.#cutAll() });
    this.#pool = this.#createPool({ statement_timeout: bounds.statementMs });
  }

  /** Loads `pg`; nothing else does. Nothing is connected yet. @throws {ConfigError} with how to install it */
  static async load(url: string, bounds: PostgresBounds): Promise<PostgresPool> {
    requirePackage('pg');
    const { default: pg } = await import('pg');
    return new PostgresPool(pg, url, bounds);
  }

  /** @throws {IntentError} `ledger_unavailable` */
  async take(): Promise<PoolClient> {
    if (this.#closing) throw unreachable('The ledger is closed');
    this.#pulse.requireAnswer();
    try {
      return await this.#pulse.follow(() => this.#connect());
    } catch (error) {
      if (error instanceof Error && allTaken.test(error.message)) {
        throw unreachable('All connections of this process to the database are taken', error);
      }
      throw outage('The database cannot be reached', error);
    }
  }

  /** Waits for what was asked over a connection; a database that is gone without a word is not waited for. */
  follow<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return this.#pulse.follow(ask);
  }

  /** Takes a connection back, and drops one that is broken. */
  giveBack(client: PoolClient, isBroken: boolean): void {
    client.release(isBroken);
    if (isBroken) this.#dropIdle();
  }

  /** Listens to a channel, over a connection beside those of the pool. */
  listen(channel: string, hear: (payload: string) => void): PostgresListener {
    // Nobody's process is kept alive by it.
    const config = { ...this.#settings(), stream: () => this.#createSocket().unref() };
    return new PostgresListener({ ClientOfPg: this.#Client, config, channel, hear });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #connect(): Promise<PoolClient> {
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
    const pool = new this.#Pool({ ...this.#settings(), Client, max: 10, allowExitOnIdle: true, ...parameters });
    // An idle connection that breaks is taken out by the pool itself.
    pool.on('error', ignore);
    // One that breaks in between, even in the moment in which it is handed over, says so at its next statement.
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  }

  #settings(): PoolConfig {
    const { connectMs, statementMs } = this.#bounds;
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
    // Whoever has waited for a connection of the pool gets this one, and would wait once more.
    if (this.#pulse.isSilent) process.nextTick(() => socket.destroy(silent()));
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  /** What broke one connection has most likely broken those that are idle, and each would cost a call its time-out. */
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

  /** Whoever waits for an answer is told, as by a server that ends its connections. */
  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy(silent());
  }

  async #close(): Promise<void> {
    this.#pulse.close();
    const ended = this.#pool.end();
    const late = new Promise((resolve) => setTimeout(resolve, this.#bounds.closeMs).unref());
    await Promise.race([ended, late]);
    // A server that does not answer is not waited for.
    for (const socket of this.#sockets) socket.destroySoon();
  }
}

const silent = (): Error => new Error('Connection terminated, since the database has gone without a word');

function ignore(): void {}
