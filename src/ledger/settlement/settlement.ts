import { DatabaseOutage } from '../database/database-fault.js';
import { errorDetails } from '../database/error-text.js';
import { unavailable } from '../ledger-events.js';
import { AdaptiveLimit } from './adaptive-limit.js';
import {
  bringBackDueTimes,
  claimDue,
  claimNamed,
  endClaims,
  giveBack,
  type LaneLimits,
  LeaseLost,
  stillOpen,
  type Work,
} from './claimed-payment.js';
import { HookLanes, type Lane, lanes } from './hook-lanes.js';
import { holdLease, type Lease } from './lease.js';
import { RecheckQueue } from './recheck-queue.js';
import { settlePayment } from './settle-payment.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';

/** Why work is given back that has not ended when the ledger is closed. */
class Closing extends Error {
  constructor() {
    super('The ledger is being closed.');
    this.name = 'Closing';
  }
}

/** Payments that are worked on for each status call: while some wait for the service, others are written down. */
const worksEach = 4;

/** After a failure of the database the next look comes later and later, up to this, in milliseconds. */
const longestPauseMs = 10_000;

/** How often due times are looked for that were set while the clock of the database was ahead, in milliseconds. */
const bringBackEveryMs = 10_000;

/** Settles payments: claims those of the recheck queue, then those that are due, and works on a few at once. */
export class Settlement {
  readonly #context: WorkContext;
  readonly #rechecks: RecheckQueue;
  /** Of status calls. */
  readonly #calls: AdaptiveLimit;
  readonly #running = new Map<Lease, Promise<void>>();
  /** Claimed when the database failed, so that nothing could be written of it. */
  readonly #stranded = new Map<string, Work>();
  #isClosed = false;
  /** How many payments of each lane are being worked on. */
  readonly #held: Record<Lane, number> = { first: 0, retry: 0, slow: 0, alone: 0 };
  /** The lanes in which more may be due than the last claim had room for. */
  #fullLanes = new Set<Lane>();
  #failures = 0;
  #isTold = false;
  #lookedAtMs = performance.now();
  #broughtBackAtMs = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;
  #loop: Promise<void> | undefined;

  constructor(context: SettlementContext) {
    const { askStatus, settings, timing } = context;
    this.#calls = new AdaptiveLimit({ most: settings.looksAtOnce });
    this.#context = {
      ...context,
      lanes: new HookLanes(timing.hooksAtOnce),
      askStatus: (id, options) => this.#calls.run(options.signal, () => askStatus(id, options)),
    };
    this.#rechecks = new RecheckQueue(() => this.#wake());
  }

  /** Since it has last looked for work and could, or was made, in milliseconds. */
  get lookedMsAgo(): number {
    return Math.round(performance.now() - this.#lookedAtMs);
  }

  /** How long a payment has waited for the first call of its hook while others run, in milliseconds; the longest. */
  get firstCallWaitMs(): number {
    return Math.round(this.#context.lanes.firstCallWaitMs);
  }

  /** How many more payments of each lane it may work on. What waits for its hook must leave room for the others. */
  get #room(): LaneLimits {
    const most = worksEach * this.#calls.limit;
    const left = (lane: Lane, limit: number): number => Math.max(0, limit - this.#held[lane]);
    return {
      // A payment whose hook runs makes no status call, so hooks that hang take no room from the others.
      first: left('first', most + this.#context.lanes.running('first')),
      retry: left('retry', Math.max(1, Math.floor(most / 2))),
      slow: left('slow', 1),
      alone: left('alone', 1),
    };
  }

  /** Looks for work from now on, until `close`. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** The database works again: releases what it could not write, and continues at once. */
  resume(): void {
    void this.#giveBackStranded().finally(() => this.#wake());
  }

  /** Polls a payment now. Resolves when that was tried, whatever the outcome. */
  recheck(id: string): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#rechecks.add(id);
  }

  /**
   * Claims as much as there is room for and works on it.
   * @returns how much was claimed, at once; `idle` waits for the end of the work
   */
  async round(): Promise<number> {
    const { db, timing } = this.#context;
    const named = await this.#claimRechecks(this.#room.first);
    const room = this.#room;
    this.#fullLanes = new Set(lanes);
    if (lanes.every((lane) => room[lane] === 0)) return named;
    const due = await claimDue(db, room, timing);
    const claimed = (lane: Lane): number => due.filter((work) => work.lane === lane).length;
    this.#fullLanes = new Set(lanes.filter((lane) => claimed(lane) === room[lane]));
    for (const work of due) this.#begin(work);
    return named + due.length;
  }

  /** Brings back due times that were set while the clock of the database was ahead. */
  async bringBack(): Promise<void> {
    this.#broughtBackAtMs = performance.now();
    while (await bringBackDueTimes(this.#context.db));
  }

  /** Resolves when nothing is being worked on. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Claims no more, lets running work end, and gives back what takes too long. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rechecks.close();
    this.#wake();
    await this.#loop;
    const tooLong = setTimeout(() => {
      for (const lease of this.#running.keys()) lease.abort(new Closing());
    }, this.#context.timing.closeMs);
    await this.idle();
    clearTimeout(tooLong);
  }

  /** Never rejects: a database that fails once more has another end, and what is not given back waits for that. */
  async #giveBackStranded(): Promise<void> {
    const works = [...this.#stranded.values()];
    this.#stranded.clear();
    if (works.length === 0) return;
    await giveBack(this.#context.db, works).catch((error) => {
      if (!(error instanceof DatabaseOutage)) return;
      // What was claimed anew meanwhile is another claim.
      for (const work of works) if (!this.#stranded.has(work.payment.id)) this.#stranded.set(work.payment.id, work);
    });
  }

  async #run(): Promise<void> {
    const { db } = this.#context;
    if (!db.isShared)
      await endClaims(db).catch((error) => this.#tell('what was begun before waits for its lease', error));
    while (!this.#isClosed) {
      await this.#tryRound();
      if (this.#failures > 0 || !this.#hasMore) await this.#pause();
    }
  }

  /** Whether another claim may find something at once; one in vain costs the database as much as one that finds something. */
  get #hasMore(): boolean {
    const room = this.#room;
    if (room.first > 0 && this.#rechecks.size > 0) return true;
    return lanes.some((lane) => room[lane] > 0 && this.#fullLanes.has(lane));
  }

  async #tryRound(): Promise<void> {
    try {
      if (performance.now() - this.#broughtBackAtMs > bringBackEveryMs) await this.bringBack();
      await this.round();
      if (this.#isTold) this.#context.observer?.emit({ type: 'ledger_back' });
      this.#isTold = false;
      this.#failures = 0;
      this.#lookedAtMs = performance.now();
    } catch (error) {
      this.#failures += 1;
      // The next lines would say the same; and an outage of the database is told where that is watched.
      if (!this.#isTold && !(error instanceof DatabaseOutage)) {
        this.#isTold = true;
        this.#tell('payments cannot be looked at', error);
        this.#context.observer?.emit(unavailable(error));
      }
    }
  }

  /** Until there is room again, a recheck, or the time of the next poll. */
  #pause(): Promise<void> {
    const { roundMs } = this.#context.timing;
    const pauseMs = Math.min(roundMs * 2 ** Math.min(this.#failures, 10), Math.max(longestPauseMs, roundMs));
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      const timer = setTimeout(resolve, pauseMs * (0.9 + Math.random() * 0.2)).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #claimRechecks(room: number): Promise<number> {
    const { db, timing } = this.#context;
    const ids = room > 0 ? this.#rechecks.take(room) : [];
    if (ids.length === 0) return 0;
    const missed = new Set(ids);
    try {
      const claimed = await claimNamed(db, ids, timing);
      for (const work of claimed) {
        missed.delete(work.payment.id);
        this.#begin(work);
      }
      // What is open no more needs no second look: it is settled, or waits for its time.
      const open = missed.size > 0 ? await stillOpen(db, [...missed]) : [];
      for (const id of missed) if (!open.includes(id) && missed.delete(id)) this.#rechecks.done(id);
      return claimed.length;
    } finally {
      this.#rechecks.missed([...missed]);
    }
  }

  #begin(work: Work): void {
    const lease = holdLease(this.#context.db, work, this.#context.timing.leaseMs);
    this.#held[work.lane] += 1;
    const ended = this.#work(work, lease).finally(() => {
      lease.stop();
      this.#running.delete(lease);
      this.#held[work.lane] -= 1;
      this.#rechecks.done(work.payment.id);
      if (this.#hasMore) this.#wake();
    });
    this.#running.set(lease, ended);
  }

  async #work(work: Work, lease: Lease): Promise<void> {
    try {
      await settlePayment(this.#context, work, lease.signal);
    } catch (error) {
      // Whoever has the payment now does what is to be done.
      if (error instanceof LeaseLost) return;
      if (error instanceof Closing) return giveBack(this.#context.db, [work]).catch(() => undefined);
      // The lease ends by itself, and with it the claim.
      if (error instanceof DatabaseOutage) return void this.#stranded.set(work.payment.id, work);
      this.#tell(`the payment ${work.payment.id} could not be looked at`, error);
    }
  }

  #tell(what: string, error: unknown): void {
    this.#context.logger.error(`express-intents: ${what}`, { message: errorDetails(error).message });
  }
}
