import type { Database } from '../../../src/ledger/database/database.js';
import { findIntent, historyOf } from '../../../src/ledger/intents/find-intents.js';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import { retryIntent } from '../../../src/ledger/intents/retry-intent.js';
import type { LedgerIntent, NewIntent } from '../../../src/ledger/ledger.js';
import type { PaymentHooks } from '../../../src/ledger/payment.js';
import { Settlement } from '../../../src/ledger/settlement/settlement.js';
import type { SequencerStatus, SettlementContext } from '../../../src/ledger/settlement/settlement-context.js';
import { defaultTiming, type SettlementTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { type DatabaseKind, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { ledgerTables } from '../../support/databases/ledger-rows.js';
import { LogRecorder } from '../../support/sites/site.js';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A browser, by the hash of its cookie. */
const browser = new Uint8Array(32).fill(7);

/** When the clock of the database stands at the beginning of each test. */
export const start = '2026-01-01T12:00:00.000Z';

/** A database for the tests of a `describe`, with a clock that they set, empty at the beginning of each, and a table `effects`. */
export function useDatabase(kind: DatabaseKind): TestDatabase {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase(kind, { fakeTime: true });
    await opened.db.query('create table effects (id text)');
  });
  beforeEach(async () => {
    await opened.db.query(`truncate ${ledgerTables}, effects`);
    await opened.setTime(start);
  });
  return {
    get db() {
      return opened.db;
    },
    get settings() {
      return opened.settings;
    },
    get url() {
      return opened.url;
    },
    setTime: (iso) => opened.setTime(iso),
    advance: (ms) => opened.advance(ms),
    reopen: () => opened.reopen(),
    close: () => opened.close(),
  };
}

export interface SettlementOptions {
  readonly hooks?: PaymentHooks;
  readonly settings?: Partial<SettlementContext['settings']>;
  readonly timing?: Partial<SettlementTiming>;
  readonly fetchUserId?: SettlementContext['fetchUserId'];
  readonly observer?: SettlementContext['observer'];
  /** Default: the database of the test. */
  readonly db?: Database;
  /** Default: a new one. */
  readonly sequencer?: FakeSequencer;
}

/** A sequencer whose status responses a test sets. */
export class FakeSequencer {
  /** The number of status calls, by intent. */
  readonly calls = new Map<string, number>();
  readonly statuses = new Map<string, SequencerStatus | Error>();

  answer(id: string): SequencerStatus {
    this.calls.set(id, (this.calls.get(id) ?? 0) + 1);
    const status = this.statuses.get(id);
    if (status instanceof Error) throw status;
    return status ?? { exists: false, intentSubmitted: false };
  }
}

/** A settlement whose rounds and clock the test controls. */
export class SettlementFixture {
  readonly database: TestDatabase;
  readonly settlement: Settlement;
  readonly log = new LogRecorder();
  readonly sequencer: FakeSequencer;
  #created = 0;

  constructor(database: TestDatabase, options: SettlementOptions = {}) {
    const { hooks = {}, settings, timing, fetchUserId, observer, sequencer = new FakeSequencer() } = options;
    this.database = database;
    this.sequencer = sequencer;
    this.settlement = new Settlement({
      db: options.db ?? database.db,
      hooks,
      fetchStatus: async (id) => sequencer.answer(id),
      fetchUserId,
      observer,
      settings: {
        settleDelayMs: 0,
        watchMs: 30 * dayMs,
        reversalWatchMs: dayMs,
        settlementConcurrency: 6,
        hookAttempts: 3,
        // Longer than a test: a busy machine must not end a hook.
        hookTimeoutMs: 600_000,
        lateAfterMs: 15 * minuteMs,
        ...settings,
      },
      timing: { ...defaultTiming, ...timing },
      logger: this.log,
    });
  }

  get statusCalls(): ReadonlyMap<string, number> {
    return this.sequencer.calls;
  }

  /** Creates an unpaid payment that the sequencer knows. */
  create(terms: { login?: boolean; metadata?: Record<string, unknown> } = {}): Promise<string> {
    const { login = false, metadata = {} } = terms;
    const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const money = { amount: '4.50', currency: 'usd', destination };
    return this.#record({ ...money, description: undefined, login, resource: undefined, metadata });
  }

  /** Creates a login that the sequencer knows. */
  createLogin(): Promise<string> {
    return this.#record(undefined);
  }

  async #record(terms: NewIntent['terms']): Promise<string> {
    this.#created += 1;
    const id = `${'x'.repeat(40)}${String(this.#created).padStart(3, '0')}`;
    const times = { watchFirstMs: defaultTiming.watchFirstMs, watchMs: 30 * dayMs };
    await recordIntents(this.database.db, [{ id, terms, browser }], times);
    this.setStatus(id, { exists: true, intentSubmitted: false });
    return id;
  }

  /** Sets the status that the sequencer reports for an intent from now on. */
  setStatus(id: string, status: SequencerStatus | Error): void {
    this.sequencer.statuses.set(id, status);
  }

  pay(id: string): void {
    this.setStatus(id, { exists: true, intentSubmitted: true });
  }

  reverse(id: string): void {
    this.setStatus(id, { exists: true, intentSubmitted: false });
  }

  /** Creates and pays a payment, and does the work that is due five seconds later. */
  async buy(): Promise<string> {
    const id = await this.create();
    this.pay(id);
    await this.after(5_000);
    return id;
  }

  /** Creates and pays a payment, and claims it five seconds later. Its work may still run. */
  async begin(): Promise<string> {
    const id = await this.create();
    this.pay(id);
    await this.database.advance(5_000);
    await this.settlement.round();
    return id;
  }

  /** Advances the clock, then does all due work. */
  async after(ms: number): Promise<void> {
    await this.database.advance(ms);
    await this.work();
  }

  /** Does all work that is due now. */
  async work(): Promise<void> {
    while ((await this.settlement.round()) > 0) await this.settlement.idle();
  }

  async find(id: string): Promise<LedgerIntent> {
    const intent = await findIntent(this.database.db, id);
    if (!intent) throw new Error(`The ledger does not know ${id}.`);
    return intent;
  }

  /** The states of an intent, oldest first. */
  async path(id: string): Promise<string> {
    const changes = await historyOf(this.database.db, id);
    return [changes[0]?.from, ...changes.map(({ to }) => to)].join(' > ');
  }

  retry(id: string): Promise<boolean> {
    return retryIntent(this.database.db, id, 30 * dayMs);
  }
}
