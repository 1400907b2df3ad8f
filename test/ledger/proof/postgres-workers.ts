import { setTimeout as wait } from 'node:timers/promises';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { startRelay, type TcpRelay } from '../../support/network/tcp-relay.js';
import type { SeededRandom } from '../../wire/seeded-random.js';
import { fastLedger, type PlannedFault } from './child-orders.js';
import { workPoints } from './crash-plan.js';
import { effectsTable, readEvidence } from './evidence.js';
import { LedgerProcess } from './ledger-process.js';
import { reportInTheEnd } from './report.js';
import { Shop } from './shop.js';

const sleepMs = 2 * (fastLedger.timing.leaseMs ?? 0);

export const faultKinds = ['kill', 'kill at', 'sleep', 'sleep at', 'cut', 'freeze', 'terminate'] as const;
export type FaultKind = (typeof faultKinds)[number];
const points = workPoints.filter((point) => !/release all claims|find migrations/.test(point));

/** One of the processes, which is replaced when it is killed, and its connection to the database. */
class Worker {
  /** The exit codes and signals of processes that were not killed by the test. */
  readonly deaths: string[] = [];
  readonly #name: string;
  readonly #shop: Shop;
  readonly #random: SeededRandom;
  readonly #database: TestDatabase;
  readonly #relay: TcpRelay;
  #child: LedgerProcess | undefined;
  #lives = 0;
  #isOver = false;
  /** Stops the process, which is at its planned point. */
  #onStop: () => Promise<void> = async () => undefined;

  constructor(name: string, shop: Shop, random: SeededRandom, database: TestDatabase, relay: TcpRelay) {
    this.#name = name;
    this.#shop = shop;
    this.#random = random;
    this.#database = database;
    this.#relay = relay;
  }

  /** Serves customers until `end`. */
  async serve(): Promise<void> {
    while (!this.#isOver) {
      if (!this.#child || this.#child.isGone) this.#child = await this.#start();
      await this.#shop.visit(this.#child);
      await Promise.race([this.#child.exited, wait(this.#random.below(200))]);
    }
    // Already gone if the test has failed during a fault.
    if (this.#child?.isGone === false) await this.#child.close();
    this.#child?.signal('SIGKILL');
  }

  end(): void {
    this.#isOver = true;
  }

  /** Injects a fault. @returns false if the process did not reach the planned point */
  async inject(fault: FaultKind): Promise<boolean> {
    await wait(this.#random.below(200));
    const child = this.#child;
    if (!child) return false;
    if (fault === 'kill at') return this.#failAt(child, 'SIGKILL', child.exited);
    if (fault === 'sleep at') return this.#failAt(child, 'SIGSTOP', this.#asleep());
    if (fault === 'kill') child.signal('SIGKILL');
    if (fault === 'sleep') await this.#sleep(child);
    if (fault === 'cut') this.#relay.cut();
    if (fault === 'freeze') await this.#freeze();
    if (fault === 'terminate') await this.#database.db.query(terminate);
    return true;
  }

  async #failAt(child: LedgerProcess, signal: PlannedFault['signal'], happens: Promise<unknown>): Promise<boolean> {
    const fault = { point: this.#random.pick(points), times: 1 + this.#random.below(2), signal };
    child.failAt(fault).catch(() => undefined);
    // Some points are rarely reached: another fault replaces the planned one.
    const happened = await Promise.race([happens.then(() => true), wait(2_000).then(() => false)]);
    if (!happened) child.failAt(undefined).catch(() => undefined);
    return happened;
  }

  async #sleep(child: LedgerProcess): Promise<void> {
    child.signal('SIGSTOP');
    await wait(sleepMs);
    child.signal('SIGCONT');
  }

  /** Resolves when the process was stopped at its planned point and resumed. */
  #asleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStop = async () => {
        if (this.#child) await this.#sleep(this.#child);
        resolve();
      };
    });
  }

  async #freeze(): Promise<void> {
    this.#relay.freeze();
    await wait(sleepMs);
    this.#relay.thaw();
  }

  async #start(): Promise<LedgerProcess> {
    this.#lives += 1;
    // The same database, through the relay.
    const [name = ''] = this.#database.url.match(/[^/?]+(?=\?)/) ?? [];
    const url = `postgres://postgres@127.0.0.1:${this.#relay.port}/${name}?application_name=worker`;
    const child = await LedgerProcess.start(
      { ...fastLedger, name: `${this.#name}, life ${this.#lives}`, database: { kind: 'postgres', url } },
      { ...this.#shop.handlers, stop: () => this.#onStop() },
    );
    void child.exited.then((how) => {
      if (how !== 'SIGKILL') this.deaths.push(`${how}\n${this.#shop.lastLines()}`);
    });
    return child;
  }
}

/** Terminates a few random connections of the processes, and none of the test. */
const terminate = `select pg_terminate_backend(pid) from (
  select pid from pg_stat_activity where datname = current_database() and application_name = 'worker' order by random() limit 4
) chosen`;

/** Runs three processes with one ledger in Postgres through the faults of the plan while customers buy. */
export async function expectFaultsSurvived(plan: FaultKind[], random: SeededRandom): Promise<void> {
  const database = await openTestDatabase('postgres');
  await database.db.query(effectsTable);
  const { socketPath } = await startPostgres();
  const shop = new Shop('shop', random);
  const names = ['one', 'two', 'three'];
  const workers = await Promise.all(
    names.map(async (name) => new Worker(name, shop, random, database, await startRelay(socketPath))),
  );
  const take = (): FaultKind | undefined => plan.splice(random.below(plan.length), 1)[0];
  const serving = workers.map((worker) => worker.serve());
  const readAll = async () => ({ ...(await readEvidence(database.db)), sequencer: shop.truth.events });
  let report = '';
  try {
    await Promise.all(
      workers.map(async (worker) => {
        for (let fault = take(); fault; fault = take()) if (!(await worker.inject(fault))) plan.push(fault);
      }),
    );
    await eventually('all have worked, and payments were reversed', async () => {
      const { effects, sequencer } = await readAll();
      const haveWorked = names.every((name) => effects.some(({ worker }) => worker.startsWith(`${name},`)));
      return haveWorked && sequencer.some(({ what }) => what === 'reversed');
    });
    shop.stopFaults();
    report = await reportInTheEnd(readAll);
  } finally {
    for (const worker of workers) worker.end();
    await Promise.all(serving);
  }
  expect(report).toBe('');
  expect(workers.flatMap(({ deaths }) => deaths)).toEqual([]);
  expect(shop.doubledKeys()).toEqual([]);
  expect(new Set(shop.loggedIn).size).toBe(shop.loggedIn.length);
}
