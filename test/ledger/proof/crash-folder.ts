import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { copyEmptyData } from '../../support/databases/embedded-template.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import type { SeededRandom } from '../../wire/seeded-random.js';
import { type ChildOrders, fastLedger } from './child-orders.js';
import type { Death } from './crash-plan.js';
import { LedgerProcess } from './ledger-process.js';
import { reportInTheEnd } from './report.js';
import { Shop } from './shop.js';

/** A process that does not reach its point within this time is killed, and another one is started. */
const patienceMs = 60_000;

/** The folder of a ledger, the processes that open it one after the other, and their customers. */
export class CrashFolder {
  readonly shop: Shop;
  kills = 0;
  readonly #folder: string;
  readonly #random: SeededRandom;
  /** The time from the start of a process until its ledger is open. */
  #openMs = 500;

  private constructor(name: string, folder: string, random: SeededRandom) {
    this.#folder = folder;
    this.#random = random;
    this.shop = new Shop(name, random);
  }

  /** Creates a folder with an empty database. */
  static async create(name: string, random: SeededRandom): Promise<CrashFolder> {
    const folder = temporaryFolder();
    await copyEmptyData(path.join(folder, 'data'));
    return new CrashFolder(name, folder, random);
  }

  /** Starts and kills processes until the plan is empty. A point that was not reached is planned again. */
  async play(plan: Death[]): Promise<void> {
    let again = 10 + plan.length / 4;
    for (let death = plan.shift(); death; death = plan.shift()) {
      const wasReached = await this.#live(death);
      if (wasReached || !('at' in death)) continue;
      if (again <= 0) throw new Error(`No process reached this point: ${death.at}.`);
      again -= 1;
      plan.push({ at: death.at, times: 1 });
    }
  }

  /** Runs a process until `kill -9`. @returns false if it did not reach the planned point */
  async #live(death: Death): Promise<boolean> {
    const fault = 'at' in death ? { point: death.at, times: death.times, signal: 'SIGKILL' as const } : undefined;
    const child = await LedgerProcess.start(this.#orders(fault), this.shop.handlers);
    let isOurs = false;
    const kill = (): void => {
      isOurs = true;
      child.signal('SIGKILL');
    };
    const diesMs = 'moment' in death ? death.moment * this.#openMs : patienceMs;
    const timers = [setTimeout(kill, diesMs)];
    if ('closes' in death && death.closes) {
      timers.push(setTimeout(() => void child.close().catch(() => undefined), diesMs - this.#random.below(80)));
    }
    await this.#serve(child);
    for (const timer of timers) clearTimeout(timer);
    const how = await child.exited;
    if (how !== 'SIGKILL') throw new Error(`A process ended without being killed: ${how}.\n${this.shop.lastLines()}`);
    this.kills += 1;
    return !isOurs || 'moment' in death;
  }

  /** Runs a last process without faults: one more visit, then none, until no fault is left. @returns the faults */
  async settle(): Promise<string> {
    const child = await LedgerProcess.start(this.#orders(undefined), this.shop.handlers);
    try {
      await this.shop.visit(child);
      this.shop.stopFaults();
      return await reportInTheEnd(async () => {
        await this.shop.visit(child);
        return { ...(await child.evidence()), sequencer: this.shop.truth.events };
      });
    } finally {
      await child.close().catch(() => undefined);
      child.signal('SIGKILL');
    }
  }

  async #serve(child: LedgerProcess): Promise<void> {
    const startedMs = performance.now();
    const opened = await child.ready().then(
      () => performance.now() - startedMs,
      () => undefined,
    );
    this.#openMs = opened ?? this.#openMs;
    while (!child.isGone) {
      await this.shop.visit(child);
      await Promise.race([child.exited, wait(this.#random.below(50))]);
    }
  }

  #orders(fault: ChildOrders['fault']): ChildOrders {
    // In some processes payments settle after a delay, or the watch ends quickly.
    const variation = fault === undefined || this.#random.below(4) > 0 ? {} : { settleDelayMs: 20, watchMs: 200 };
    const database = { kind: 'embedded', folder: this.#folder } as const;
    return {
      ...fastLedger,
      name: `life ${this.kills}`,
      database,
      settings: { ...fastLedger.settings, ...variation },
      fault,
    };
  }
}

/** Expects that no folder has lost or doubled anything. */
export async function expectNothingLost(folders: readonly CrashFolder[]): Promise<void> {
  for (const folder of folders) expect(await folder.settle()).toBe('');
  expect(folders.flatMap(({ shop }) => shop.doubledKeys())).toEqual([]);
  const loggedIn = folders.flatMap(({ shop }) => shop.loggedIn);
  expect(new Set(loggedIn).size).toBe(loggedIn.length);
  expect(loggedIn).not.toEqual([]);
}
