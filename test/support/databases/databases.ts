import { cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { Database } from '../../../src/ledger/database/database.js';
import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import type { LedgerSettings } from '../../../src/ledger/ledger-settings.js';
import { migrate } from '../../../src/ledger/migrations/migrate.js';
import { madeOnce } from '../runner/made-once.js';
import { temporaryFolder } from '../runner/temporary-folder.js';
import { copyEmptyData } from './embedded-template.js';
import { fakeSearchPath, fakeTimeSchema, moveClock, stopClock } from './fake-time.js';
import { startPostgres } from './postgres-server.js';

/** The databases of a ledger, for `describe.each(kinds)`. */
export const kinds = ['embedded', 'postgres'] as const;
export type DatabaseKind = (typeof kinds)[number];

export interface TestDatabaseOptions {
  /** Whether the tables exist. Default true. */
  readonly migrated?: boolean;
  /** Whether the test can set the clock of the database. Until then it is the usual one. Default false. */
  readonly fakeTime?: boolean;
}

/** The database of one test. It is closed after the test file, if not before. */
export interface TestDatabase {
  /** The database as the product opens it; another one after `reopen`. */
  readonly db: Database;
  readonly settings: LedgerSettings['database'];
  /** The value of `INTENT_DATABASE_URL`. */
  readonly url: string;
  /** Stops the clock of the database at an ISO 8601 time. Not inside a transaction of an embedded one. */
  setTime(iso: string): Promise<void>;
  /** Advances the clock of the database. Not inside a transaction of an embedded one. */
  advance(ms: number): Promise<void>;
  /** Closes and reopens it, as in a restart of the site. */
  reopen(): Promise<Database>;
  close(): Promise<void>;
}

const opened: TestDatabase[] = [];

/** Opens a new database. */
export async function openTestDatabase(kind: DatabaseKind, options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { migrated = true, fakeTime = false } = options;
  const make = kind === 'embedded' ? makeEmbedded : makePostgres;
  const place = await make({ migrated, fakeTime });
  const database = new OpenedDatabase(place, await place.open());
  opened.push(database);
  return database;
}

/** Creates a migrated database for a site. @returns the value of `INTENT_DATABASE_URL` */
export async function newDatabaseUrl(kind: DatabaseKind): Promise<string> {
  const make = kind === 'embedded' ? makeEmbedded : makePostgres;
  return (await make({ migrated: true, fakeTime: false })).url;
}

afterAll(async () => {
  for (const database of opened.splice(0)) await database.close();
});

type Wanted = Required<TestDatabaseOptions>;

/** The differences between the two kinds. */
interface Place {
  readonly settings: LedgerSettings['database'];
  readonly url: string;
  open(): Promise<Database>;
  /** Runs SQL on a separate connection if possible, else through `db`. */
  run(db: Database, sql: string, value: string): Promise<unknown>;
}

const templates = new Map<string, Promise<string>>();

/** Creates a template in the Postgres of this file, once for each combination of options. */
function templateOf(wanted: Wanted, make: () => Promise<string>): Promise<string> {
  const key = JSON.stringify(wanted);
  const template = templates.get(key) ?? make();
  templates.set(key, template);
  return template;
}

async function makePostgres(wanted: Wanted): Promise<Place> {
  const server = await startPostgres();
  // A busy machine needs long for a new connection.
  const open = (name: string) => openPostgres({ url: server.url(name), connectMs: 60_000 });
  const create = async (template?: string): Promise<string> => {
    const name = await server.createDatabase(template);
    // Settings of a database are not copied.
    if (wanted.fakeTime) await server.run(name, `alter database ${name} set search_path = ${fakeSearchPath}`);
    return name;
  };
  const template = await templateOf(wanted, async () => {
    const name = await create();
    if (wanted.fakeTime) await server.run(name, fakeTimeSchema);
    if (wanted.migrated) await migrateAndClose(await open(name));
    return name;
  });
  const name = await create(template);
  const url = server.url(name);
  return {
    settings: { kind: 'postgres', url },
    url,
    open: () => open(name),
    run: (_db, sql, value) => server.run(name, sql, [value]),
  };
}

async function makeEmbedded(wanted: Wanted): Promise<Place> {
  if (wanted.fakeTime) searchFakeTime();
  const open = (folder: string): Promise<Database> => openDatabase({ database: { kind: 'embedded', folder } });
  // Shared by all test files of a run.
  const name = ['ledger', wanted.migrated && 'migrated', wanted.fakeTime && 'timed'].filter(Boolean).join('-');
  const template = await madeOnce(path.join(tmpdir(), name), async (folder) => {
    await copyEmptyData(path.join(folder, 'data'));
    const db = await open(folder);
    if (wanted.fakeTime) for (const statement of fakeTimeSchema.split(/;\n/)) await db.query(statement);
    await (wanted.migrated ? migrateAndClose(db) : db.close());
  });
  const folder = temporaryFolder();
  cpSync(template, folder, { recursive: true });
  return {
    settings: { kind: 'embedded', folder },
    url: folder,
    open: () => open(folder),
    run: (db, sql, value) => db.query(sql, [value]),
  };
}

/**
 * PGlite has one session, and a transaction resets settings that were made after its start. A database without the schema is
 * not affected.
 */
function searchFakeTime(): void {
  const setting = `search_path=${fakeSearchPath.replaceAll(' ', '')}`;
  if (!PGlite.defaultStartParams.includes(setting)) PGlite.defaultStartParams.push('-c', setting);
}

async function migrateAndClose(db: Database): Promise<void> {
  await migrate(db);
  await db.close();
}

class OpenedDatabase implements TestDatabase {
  db: Database;
  readonly settings: LedgerSettings['database'];
  readonly url: string;
  readonly #place: Place;

  constructor(place: Place, db: Database) {
    this.#place = place;
    this.db = db;
    this.settings = place.settings;
    this.url = place.url;
  }

  async setTime(iso: string): Promise<void> {
    await this.#place.run(this.db, stopClock, iso);
  }

  async advance(ms: number): Promise<void> {
    await this.#place.run(this.db, moveClock, String(ms));
  }

  async reopen(): Promise<Database> {
    await this.db.close();
    this.db = await this.#place.open();
    return this.db;
  }

  close(): Promise<void> {
    return this.db.close();
  }
}
