import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { copyEmptyData } from '../../support/databases/embedded-template.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import { type SeededRandom, seededRandom } from '../../wire/seeded-random.js';
import { type ChildOrders, hasty } from './child-orders.js';
import { type Death, migrationPoints, planDeaths, workPoints } from './crash-plan.js';
import { LedgerProcess } from './ledger-process.js';
import { reportInTheEnd } from './report.js';
import { Shop } from './shop.js';

// A process with an embedded ledger is killed again and again, at named points and at random moments, while customers buy;
// another one takes up its folder each time. KILLS=1000 for more of it, SEED for the same plan again.

const kills = Number(process.env.KILLS ?? 100);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
/** A process that does not come to its point in time is killed from outside, and another is sent there. */
const patienceMs = 15_000;

/** A folder, the processes that have it one after the other, and their customers. */
class Folder {
  readonly shop: Shop;
  kills = 0;
  readonly #folder: string;
  readonly #random: SeededRandom;
  /** From the start of a process until its ledger is open. */
  #openMs = 500;

  constructor(name: string, folder: string, random: SeededRandom) {
    this.#folder = folder;
    this.#random = random;
    this.shop = new Shop(name, random);
  }

  /** One life of a process, which ends with `kill -9`. False where it did not come to the point at which it was to die. */
  async live(death: Death): Promise<boolean> {
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
    if (how !== 'SIGKILL') throw new Error(`A process ended by itself: ${how}.\n${this.shop.lastLines()}`);
    this.kills += 1;
    return !isOurs || 'moment' in death;
  }

  /** A last life in which nothing happens, until all is well. @returns what is not */
  async settle(): Promise<string> {
    this.shop.calmDown();
    const child = await LedgerProcess.start(this.#orders(undefined), this.shop.handlers);
    try {
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
    // Now and then payments wait before they settle, or are watched for a moment only.
    const moody = fault === undefined || this.#random.below(4) > 0 ? {} : { settleDelayMs: 20, watchMs: 200 };
    const database = { kind: 'embedded', folder: this.#folder } as const;
    return { ...hasty, name: `life ${this.kills}`, database, settings: { ...hasty.settings, ...moody }, fault };
  }
}

async function newFolder(name: string, random: SeededRandom): Promise<Folder> {
  const folder = temporaryFolder();
  await copyEmptyData(path.join(folder, 'data'));
  return new Folder(name, folder, random);
}

test(
  `an embedded ledger survives kill -9 ${kills} times: nothing is lost or done twice (SEED=${seed})`,
  async () => {
    const random = seededRandom(seed);
    // Two at a time, for two cores.
    const folders = [await newFolder('one', random), await newFolder('two', random)] as const;
    const migrating = migrationPoints.map((at): Death => ({ at, times: 1 }));
    const deaths = planDeaths(workPoints, kills - migrating.length, random);
    // On a busy machine few come far in their time.
    let again = 10 + kills / 4;
    const live = async (folder: Folder, plan: Death[]): Promise<void> => {
      for (let death = plan.shift(); death; death = plan.shift()) {
        const hasComeToIt = await folder.live(death);
        if (hasComeToIt || !('at' in death)) continue;
        if (again <= 0) throw new Error(`No process has come to this point: ${death.at}.`);
        again -= 1;
        plan.push({ at: death.at, times: 1 });
      }
    };
    await Promise.all([live(folders[0], migrating).then(() => live(folders[0], deaths)), live(folders[1], deaths)]);

    for (const folder of folders) expect(await folder.settle()).toBe('');
    expect(folders[0].kills + folders[1].kills).toBeGreaterThanOrEqual(kills);
    expect(folders.flatMap(({ shop }) => shop.doubledKeys())).toEqual([]);
    const loggedIn = folders.flatMap(({ shop }) => shop.loggedIn);
    expect(new Set(loggedIn).size).toBe(loggedIn.length);
    // It was no quiet day.
    const count = (what: string): number =>
      folders.flatMap(({ shop }) => shop.truth.events).filter((event) => event.what === what).length;
    expect(count('paid')).toBeGreaterThan(kills / 2);
    expect(count('taken back')).toBeGreaterThan(kills / 20);
    expect(loggedIn.length).toBeGreaterThan(kills / 10);
  },
  60_000 + kills * 6_000,
);
