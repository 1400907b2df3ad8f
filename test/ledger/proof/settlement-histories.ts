import fc from 'fast-check';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import { retryIntent } from '../../../src/ledger/intents/retry-intent.js';
import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import { Settlement } from '../../../src/ledger/settlement/settlement.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { type DatabaseKind, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { stopClock } from '../../support/databases/fake-time.js';
import { ledgerTables } from '../../support/databases/ledger-rows.js';
import { checkEvidence, type FoundFault } from './check-evidence.js';
import { effectsTable, insertEffect, readEvidence } from './evidence.js';
import { SequencerTruth } from './sequencer-truth.js';
import { isDue, isFree, type ModelIntent, type ModelSettings, newIntent, poll, retried } from './settlement-model.js';
import { watchedDatabase } from './watched-database.js';

// Random histories of payments run against the ledger and its model, which must agree after each step. SEED repeats a run.
// A failing history is shrunk to the steps that matter.

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The expected state. */
type Model = Map<string, ModelIntent>;

/** A worker that may die between two statements: then all its statements fail. */
class Worker {
  readonly settlement: Settlement;
  /** The number of points it reaches before it dies. */
  pointsLeft = Number.POSITIVE_INFINITY;

  constructor(world: World) {
    const db = watchedDatabase(world.database.db, () => {
      this.pointsLeft -= 1;
      if (this.pointsLeft < 0) throw new Error('The process is dead.');
    });
    this.settlement = new Settlement({
      db,
      hooks: { onPaid: world.hook('onPaid'), onReversed: world.hook('onReversed') },
      fetchStatus: async (id) => world.truth.status(id),
      fetchUserId: undefined,
      settings: world.settings,
      timing: { ...defaultTiming, ...world.settings },
      logger: { warn: () => undefined, error: () => undefined },
    });
  }

  async round(): Promise<void> {
    // An interrupted payment is due again as soon as the interruption is recorded.
    for (let claimed = 1; claimed > 0; ) {
      claimed = await this.settlement.round().catch((error) => {
        if (this.pointsLeft >= 0) throw error;
        return 0;
      });
      await this.settlement.idle();
    }
  }
}

const terms: RecordedTerms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: undefined,
  login: false,
  resource: undefined,
  metadata: {},
};

/** The ledger and its environment. */
class World {
  readonly database: TestDatabase;
  readonly settings: ModelSettings & { settlementConcurrency: number; hookTimeoutMs: number; lateAfterMs: number };
  now = Date.UTC(2026, 0, 1);
  readonly silent = new Set<string>();
  readonly failing = new Set<string>();
  readonly truth = new SequencerTruth(
    (id) => this.silent.has(id),
    () => this.now,
  );
  readonly workers: Worker[];

  constructor(database: TestDatabase, settleDelayMs: number) {
    this.database = database;
    this.settings = {
      ...defaultTiming,
      ...{ settleDelayMs, watchMs: 30 * dayMs, reversalWatchMs: dayMs, hookAttempts: 3 },
      ...{ settlementConcurrency: 6, hookTimeoutMs: 5_000, lateAfterMs: hourMs },
    };
    this.workers = [new Worker(this), new Worker(this)];
  }

  hook(by: 'onPaid' | 'onReversed') {
    return async ({ id, amount, currency, metadata }: Payment, { tx }: PaymentHookContext): Promise<void> => {
      await tx.query(insertEffect, [id, by, amount, currency, JSON.stringify(metadata), 'one']);
      if (this.failing.has(id)) throw new Error('The printer is on fire.');
    };
  }

  /** Creates two unpaid payments. */
  async start(): Promise<Model> {
    const { db } = this.database;
    await db.query(`truncate ${ledgerTables}, public.effects`);
    await this.advance(0);
    const model: Model = new Map();
    for (const id of ['one', 'two']) {
      this.truth.create(id, terms);
      await recordIntents(db, [{ id, terms, browser: new Uint8Array(32) }], this.settings);
      this.truth.returnSecret(id);
      model.set(id, newIntent(this.now, this.settings));
    }
    return model;
  }

  async advance(ms: number): Promise<void> {
    this.now += ms;
    await this.database.db.query(stopClock, [new Date(this.now).toISOString()]);
  }

  /** The states of an intent that is polled now, and again while it is due: a crash may leave any of them. */
  expect(id: string, intent: ModelIntent): ModelIntent[] {
    const answer = this.silent.has(id) ? 'nothing' : this.truth.answer(id);
    const { now, settings } = this;
    const states = [...poll(intent, { now, settings, answer, hookFails: this.failing.has(id) })];
    const last = states.at(-1) as ModelIntent;
    return isDue(last, now) ? [...states, ...this.expect(id, last)] : states;
  }

  /** Reads the database as a model. */
  async read(): Promise<Model> {
    const ms = (column: string): string => `round(extract(epoch from ${column})::numeric * 1000)::float8`;
    const effects = (by: string): string =>
      `(select count(*)::float8 from public.effects e where e.intent_id = p.intent_id and e.by = '${by}')`;
    const { rows } = await this.database.db.query<ModelIntent & { id: string }>(
      `select intent_id as id, state, ${ms('due_at')} as due, ${ms('leased_until')} as "leasedUntil", attempts::float8 as attempts,
         lane, running_hook as "runningHook",
         ${ms('created_at')} as created, ${ms('watch_until')} as "watchUntil", ${ms('submitted_at')} as submitted,
         ${ms('settled_at')} as settled, reversal_suspected_at is not null as "isReversalSuspected",
         case when state = 'dead' then (select hook from express_intents.failures f where f.intent_id = p.intent_id) end
           as "deadLetterHook",
         ${effects('onPaid')} as "paidEffects", ${effects('onReversed')} as "reversedEffects"
       from express_intents.payments p order by intent_id`,
    );
    return new Map(rows.map(({ id, ...row }) => [id, withoutNulls(row)]));
  }
}

const withoutNulls = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row;

const rounded = (intent: ModelIntent): ModelIntent => ({
  ...intent,
  due: intent.due === undefined ? undefined : Math.round(intent.due),
});

/** One step of the model and of the ledger, which must agree afterwards. */
abstract class Step implements fc.AsyncCommand<Model, World> {
  check(): boolean {
    return true;
  }

  async run(model: Model, world: World): Promise<void> {
    await world.advance(1);
    await this.happen(model, world);
    const actual = await world.read();
    expect([...actual.keys()]).toEqual([...model.keys()]);
    for (const [id, expected] of model) expect({ id, ...actual.get(id) }).toEqual({ id, ...rounded(expected) });
  }

  protected abstract happen(model: Model, world: World): Promise<void>;
  abstract toString(): string;
}

/** A step that concerns one intent. */
abstract class IntentStep extends Step {
  readonly id: string;
  constructor(id: string) {
    super();
    this.id = id;
  }
  toString = (): string => `${this.constructor.name} ${this.id}`;
}

/** A step that changes only the environment. */
const environmentStep = (name: string, change: (world: World, id: string) => void) =>
  class extends IntentStep {
    protected async happen(_model: Model, world: World): Promise<void> {
      change(world, this.id);
    }
    override toString = (): string => `${name} ${this.id}`;
  };
const Pay = environmentStep('pay', ({ truth }, id) => truth.pay(id));
const Reverse = environmentStep('reverse', ({ truth }, id) => void (truth.isPaid(id) && truth.reverse(id)));
const Forget = environmentStep('forget', ({ truth }, id) => truth.forget(id));
const StopAnswering = environmentStep('stop answering', ({ silent }, id) => void silent.add(id));
const ResumeAnswering = environmentStep('resume answering', ({ silent }, id) => void silent.delete(id));
const BreakHook = environmentStep('break the hook', ({ failing }, id) => void failing.add(id));
const FixHook = environmentStep('fix the hook', ({ failing }, id) => void failing.delete(id));

class Retry extends IntentStep {
  protected async happen(model: Model, world: World): Promise<void> {
    const expected = retried(model.get(this.id) as ModelIntent, world.now, world.settings);
    expect(await retryIntent(world.database.db, this.id, world.settings.watchMs)).toBe(expected !== undefined);
    if (expected) model.set(this.id, expected);
  }
}

/** A requested recheck of an intent, followed by a round. */
class Recheck extends IntentStep {
  protected async happen(model: Model, world: World): Promise<void> {
    const intent = model.get(this.id) as ModelIntent;
    // Requests for other intents have no effect.
    const canBePaid = ['created', 'reversed', 'expired'].includes(intent.state);
    if (!canBePaid || !isFree(intent, world.now)) return;
    const [worker] = world.workers as [Worker];
    const rechecked = worker.settlement.recheck(this.id);
    for (const [id, one] of model) {
      if (id === this.id || isDue(one, world.now)) model.set(id, world.expect(id, one).at(-1) as ModelIntent);
    }
    await worker.round();
    await rechecked;
  }
}

/** After a pause one worker, or two concurrent ones, do the due work. */
class Work extends Step {
  readonly #afterMs: number;
  readonly #workers: number;
  constructor(afterMs: number, workers: number) {
    super();
    this.#afterMs = afterMs;
    this.#workers = workers;
  }
  protected async happen(model: Model, world: World): Promise<void> {
    await world.advance(this.#afterMs);
    for (const [id, intent] of model) {
      if (isDue(intent, world.now)) model.set(id, world.expect(id, intent).at(-1) as ModelIntent);
    }
    await Promise.all(world.workers.slice(0, this.#workers).map((worker) => worker.round()));
  }
  toString = () => `work of ${this.#workers} after ${this.#afterMs} ms`;
}

/**
 * After a pause a worker does the due work, and dies between two statements. Only its writes until then remain.
 */
class Crash extends Step {
  readonly #afterMs: number;
  readonly #points: number;
  constructor(afterMs: number, points: number) {
    super();
    this.#afterMs = afterMs;
    this.#points = points;
  }
  protected async happen(model: Model, world: World): Promise<void> {
    await world.advance(this.#afterMs);
    const possible = new Map(
      [...model].map(([id, intent]) => [
        id,
        isDue(intent, world.now) ? [intent, ...world.expect(id, intent)] : [intent],
      ]),
    );
    const [worker] = world.workers as [Worker];
    worker.pointsLeft = this.#points;
    await worker.round();
    world.workers[0] = new Worker(world);
    const actual = await world.read();
    for (const [id, states] of possible) {
      const found = states.find(
        (state) => JSON.stringify(sorted(rounded(state))) === JSON.stringify(sorted(actual.get(id))),
      );
      if (!found) throw new Error(`${id} is none of ${JSON.stringify(states)}: ${JSON.stringify(actual.get(id))}`);
      model.set(id, found);
    }
  }
  toString = () => `crash at point ${this.#points}, after ${this.#afterMs} ms`;
}

const sorted = (value: object | undefined): unknown =>
  value && Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));

const ids = fc.constantFrom('one', 'two');
const pauses = fc.constantFrom(1, 2_000, 10_000, 10_000, minuteMs, minuteMs, hourMs, hourMs, dayMs, 31 * dayMs);
const steps = [
  ids.map((id) => new Pay(id)),
  ids.map((id) => new Pay(id)),
  ids.map((id) => new Reverse(id)),
  ids.map((id) => new Reverse(id)),
  ids.map((id) => new Forget(id)),
  ids.map((id) => new StopAnswering(id)),
  ids.map((id) => new ResumeAnswering(id)),
  ids.map((id) => new BreakHook(id)),
  ids.map((id) => new FixHook(id)),
  ids.map((id) => new Recheck(id)),
  ids.map((id) => new Retry(id)),
  ...Array.from({ length: 5 }, () => fc.tuple(pauses, fc.constantFrom(1, 2)).map((given) => new Work(...given))),
  ...Array.from({ length: 3 }, () => fc.tuple(pauses, fc.nat(40)).map((given) => new Crash(...given))),
];

/** Ends all faults, and checks that paid intents settle. */
async function stopFaults(world: World): Promise<FoundFault[]> {
  world.truth.remember();
  world.silent.clear();
  world.failing.clear();
  const { db } = world.database;
  for (let days = 0; days < 4; days += 1) {
    await world.advance(dayMs);
    for (const { id, state } of (await readEvidence(db)).intents) {
      if (state === 'dead' || state === 'expired') await retryIntent(db, id, world.settings.watchMs);
    }
    for (let rounds = 0; rounds < 3; rounds += 1) {
      for (const worker of world.workers) await worker.round();
      await world.advance(minuteMs);
    }
  }
  // The clock of the world is not that of the machine, and nothing happens while the database is read.
  const evidence = { ...(await readEvidence(db)), readAt: undefined, sequencer: world.truth.events };
  // Reversals are polled for a day, so a later one may be missed.
  return checkEvidence(evidence, { isComplete: true }).filter(({ kind }) => kind !== 'unpaid settlement');
}

/** Declares the tests of random histories on each database. */
export function describeHistories(runs: number): void {
  describe.each([
    ['embedded' as const, runs],
    // The same SQL, but slower.
    ['postgres' as const, Math.ceil(runs / 3)],
  ])('random histories of payments on %s', describeHistoriesOn);
}

function describeHistoriesOn(kind: DatabaseKind, numRuns: number): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
    await database.db.query(effectsTable);
    // Removes the jitter of due times.
    await database.db.query(`create function fake_time.random() returns float8 language sql as 'select 0.5::float8'`);
  });

  test(
    `agree with the model (SEED=${seed})`,
    async () => {
      const histories = fc.commands(steps, { maxCommands: 60, size: 'max' });
      await fc.assert(
        fc.asyncProperty(histories, fc.constantFrom(0, 5_000), async (commands, settleDelayMs) => {
          const world = new World(database, settleDelayMs);
          const model = await world.start();
          await fc.asyncModelRun(() => ({ model, real: world }), commands);
          expect(await stopFaults(world)).toEqual([]);
        }),
        // The limit of shrinking.
        { numRuns, seed, interruptAfterTimeLimit: 60_000 + numRuns * 6_000 },
      );
    },
    120_000 + numRuns * 12_000,
  );
}
