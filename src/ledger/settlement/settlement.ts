import { exponentialBackoffMs, jitteredMs } from '../../async/backoff.js';
import { describeError } from '../../describe-error.js';
import { IntentError } from '../../errors.js';
import { unavailableEvent } from '../database/database-connector.js';
import { DatabaseOutage, sqlStateOf } from '../database/database-fault.js';
import { AdaptiveLimit } from './adaptive-limit.js';
import {
  type Claimant,
  claimDue,
  claimUnpaid,
  correctDueTimes,
  findUnpaid,
  type LaneLimits,
  releaseAllClaims,
  releaseClaims,
} from './claim-payments.js';
import { ClaimWrites } from './claim-writes.js';
import { type ClaimedPayment, holdLease, type Lease, LeaseLost } from './claimed-payment.js';
import { HookLanes, type Lane, lanes } from './hook-lanes.js';
import { RecheckQueue } from './recheck-queue.js';
import { findMissingHooks, namesOfHooks, recordHooks } from './required-hooks.js';
import { settlePayment } from './settle-payment.js';
import type { SettlementContext, SettlementWorkContext } from './settlement-context.js';

/** The reason with which `close` aborts work that does not end in time. */
class Closing extends Error {
  constructor() {
    super('The ledger is being closed.');
    this.name = 'Closing';
  }
}

/** A conflict of transactions, if the database defaults to a strict isolation level. */
const isConflict = (error: unknown): boolean => sqlStateOf(error) === '40001';

/** Consecutive rounds that may end with a conflict before it is reported. */
const maxConflicts = 3;

/** After an outage of the database, no free connection to it, or a conflict: the claim is released before the next round. */
function mayReleaseAfter(error: unknown): boolean {
  return (error instanceof IntentError && error.code === 'ledger_unavailable') || isConflict(error);
}

/**
 * How many payments are claimed for each permitted status call: while some wait for the service, others are updated in the
 * database.
 */
const paymentsPerCall = 4;

/** After failures of the database the interval between rounds grows up to this, in milliseconds. */
const pauseCapMs = 10_000;

const correctEveryMs = 10_000;

const missingHooksText = (names: string): string =>
  'express-intents: this process settles no payments, because the ledger has recorded hooks that this process ' +
  `lacks: ${names}. If this process is the site, pass them to intentRouter(). If the site has removed one of them, run ` +
  '`npx express-intents ledger forget-hook <hook>`; with a ledger in a folder, stop the site first. In a job or a script, ignore ' +
  'this message.';

/**
 * Settles payments in rounds. A round claims rechecked payments and then due ones, up to the limit of each lane, and
 * processes them concurrently.
 *
 *     created -- start ---> running: one round after another
 *     running -- close ---> closing: claims nothing, waits `closeMs` for running work, then aborts it
 *     closing ------------> closed
 */
export class Settlement {
  readonly #context: SettlementWorkContext;
  readonly #claimant: Claimant;
  readonly #rechecks: RecheckQueue;
  readonly #calls: AdaptiveLimit;
  readonly #running = new Map<Lease, Promise<void>>();
  /** Claims that could not be ended, because of an outage or conflict in the database, or because their rows were locked. */
  readonly #unreleasedClaims = new Map<string, ClaimedPayment>();
  /** Resolves when the last release of these claims has ended. */
  #released: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #held: Record<Lane, number> = { first: 0, retry: 0, slow: 0, quarantine: 0 };
  /** The lanes in which the last claim reached its limit, so more payments may be due. */
  #fullLanes = new Set<Lane>();
  #failures = 0;
  #isReported = false;
  #areHooksRecorded = false;
  #missingHooks = '';
  #lastRoundMs = performance.now();
  #correctedAtMs = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;
  #loop: Promise<void> | undefined;

  constructor(context: SettlementContext) {
    const { fetchStatus, settings, timing } = context;
    this.#calls = new AdaptiveLimit({ max: settings.settlementConcurrency });
    this.#context = {
      ...context,
      writes: new ClaimWrites(context.db),
      lanes: new HookLanes(timing.hookConcurrency),
      fetchStatus: (id, options) => this.#calls.run(options.signal, () => fetchStatus(id, options)),
    };
    this.#claimant = { timing, hooks: namesOfHooks(context.hooks) };
    this.#rechecks = new RecheckQueue(() => this.#wake());
  }

  get lastPollMsAgo(): number {
    return Math.round(performance.now() - this.#lastRoundMs);
  }

  get firstCallWaitMs(): number {
    return Math.round(this.#context.lanes.firstCallWaitMs);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call it when the database works again: releases the claims left by the outage and starts a round. */
  resume(): void {
    void this.#releaseUnreleased().finally(() => this.#wake());
  }

  recheck(id: string): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#rechecks.add(id);
  }

  /** Claims payments and starts to process them. @returns how many were claimed; `idle` waits for them */
  async round(): Promise<number> {
    const { db } = this.#context;
    const rechecked = await this.#claimRechecks(this.#room.first);
    const room = this.#room;
    this.#fullLanes = new Set(lanes);
    if (lanes.every((lane) => room[lane] === 0)) return rechecked;
    const due = await claimDue(db, room, this.#claimant);
    const countOf = (lane: Lane): number => due.filter((claimed) => claimed.lane === lane).length;
    this.#fullLanes = new Set(lanes.filter((lane) => countOf(lane) === room[lane]));
    for (const claimed of due) this.#begin(claimed);
    return rechecked + due.length;
  }

  /** Corrects due times that were set while the clock of the database was ahead. */
  async correctDueTimes(): Promise<void> {
    this.#correctedAtMs = performance.now();
    while (await correctDueTimes(this.#context.db));
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Claims no more, waits `closeMs` for running work, then aborts it and releases its claims. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rechecks.close();
    this.#wake();
    await this.#loop;
    const timer = setTimeout(() => {
      for (const lease of this.#running.keys()) lease.abort(new Closing());
    }, this.#context.timing.closeMs);
    await this.idle();
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    const { db, timing } = this.#context;
    if (!db.isShared)
      await releaseAllClaims(db).catch((error) => {
        const seconds = timing.leaseMs / 1_000;
        const what = 'the claims of an earlier process could not be released';
        this.#logError(`${what}. They end within ${seconds} s. No action is needed.`, error);
      });
    while (!this.#isClosed) {
      await this.#tryRound();
      if (this.#failures > 0 || !this.#hasMore) await this.#pause();
    }
  }

  async #tryRound(): Promise<void> {
    // Before the round: if the lease has ended meanwhile, the round would claim the payment as interrupted.
    await this.#releaseUnreleased();
    try {
      if (performance.now() - this.#correctedAtMs > correctEveryMs) {
        await this.checkHooks();
        await this.correctDueTimes();
      }
      await this.round();
      if (this.#isReported) this.#context.observer?.emit({ type: 'ledger_recovered' });
      this.#isReported = false;
      this.#failures = 0;
      this.#lastRoundMs = performance.now();
    } catch (error) {
      this.#failures += 1;
      const isExpected = isConflict(error) && this.#failures <= maxConflicts;
      // Logged once. The connector logs an outage of the database.
      if (!this.#isReported && !isExpected && !(error instanceof DatabaseOutage)) {
        this.#isReported = true;
        const what =
          'this process settles no payments, because its search for due payments in the database failed. Fix the cause in ' +
          '`message`. The search is retried at least every 10 s.';
        this.#logError(what, error);
        this.#context.observer?.emit(unavailableEvent(error));
      }
    }
  }

  /** Records once which hooks this process has. Logs which ones it lacks, whenever they change. */
  async checkHooks(): Promise<void> {
    const { db, logger } = this.#context;
    const { hooks } = this.#claimant;
    const missing = await (this.#areHooksRecorded ? findMissingHooks : recordHooks)(db, hooks);
    this.#areHooksRecorded = true;
    const names = missing.join(' and ');
    // A process without hooks is a job. One that has some is a site, whose payments now wait.
    if (names !== this.#missingHooks && names !== '')
      logger[hooks.length > 0 ? 'error' : 'warn'](missingHooksText(names));
    this.#missingHooks = names;
  }

  /** How many more payments of each lane to claim. Payments that wait for their hook must leave room for the others. */
  get #room(): LaneLimits {
    const most = paymentsPerCall * this.#calls.limit;
    const left = (lane: Lane, limit: number): number => Math.max(0, limit - this.#held[lane]);
    return {
      // A payment whose hook runs makes no status call, so it does not count.
      first: left('first', most + this.#context.lanes.running('first')),
      retry: left('retry', Math.max(1, Math.floor(most / 2))),
      slow: left('slow', 1),
      quarantine: left('quarantine', 1),
    };
  }

  /**
   * Whether a claim may find payments now. Each claim has a cost of its own, also one that finds nothing, so first calls are claimed
   * again when a quarter of their room is free: those that are already claimed keep all slots busy.
   */
  get #hasMore(): boolean {
    const room = this.#room;
    if (room.first > 0 && this.#rechecks.waiting > 0) return true;
    const least = (lane: Lane): number => (lane === 'first' ? Math.ceil((room.first + this.#held.first) / 4) : 1);
    return lanes.some((lane) => room[lane] >= least(lane) && this.#fullLanes.has(lane));
  }

  #pause(): Promise<void> {
    const { roundMs } = this.#context.timing;
    const capMs = Math.max(pauseCapMs, roundMs);
    const pauseMs = exponentialBackoffMs({ firstMs: roundMs, capMs }, Math.min(this.#failures, 10));
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      const timer = setTimeout(resolve, jitteredMs(pauseMs, 0.1)).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #claimRechecks(room: number): Promise<number> {
    const { db } = this.#context;
    const ids = room > 0 ? this.#rechecks.take(room) : [];
    if (ids.length === 0) return 0;
    const missed = new Set(ids);
    try {
      const claims = await claimUnpaid(db, ids, this.#claimant);
      for (const claimed of claims) {
        missed.delete(claimed.payment.id);
        this.#begin(claimed, { isRecheck: true });
      }
      // Only an unpaid payment is retried. Any other leaves the queue.
      const unpaid = missed.size > 0 ? await findUnpaid(db, [...missed]) : [];
      for (const id of missed) if (!unpaid.includes(id) && missed.delete(id)) this.#rechecks.done(id);
      this.#rechecks.missed([...missed], new Set([...this.#running.keys()].map(({ id }) => id)));
      return claims.length;
    } catch (error) {
      this.#rechecks.putBack([...missed]);
      throw error;
    }
  }

  #begin(claimed: ClaimedPayment, { isRecheck = false } = {}): void {
    const lease = holdLease(this.#context.db, claimed, this.#context.timing.leaseMs);
    this.#held[claimed.lane] += 1;
    const ended = this.#work(claimed, lease).finally(() => {
      lease.stop();
      this.#running.delete(lease);
      this.#held[claimed.lane] -= 1;
      // A scheduled poll may have begun before the recheck was requested.
      if (isRecheck) this.#rechecks.done(lease.id);
      else this.#rechecks.claimEnded(lease.id);
      if (this.#hasMore) this.#wake();
    });
    this.#running.set(lease, ended);
  }

  async #work(claimed: ClaimedPayment, lease: Lease): Promise<void> {
    try {
      await settlePayment(this.#context, claimed, lease.signal);
    } catch (error) {
      // Another process has claimed the payment and processes it.
      if (error instanceof LeaseLost) return;
      if (error instanceof Closing) {
        await releaseClaims(this.#context.db, [claimed]).catch(() => undefined);
        return;
      }
      const isOutage = error instanceof DatabaseOutage;
      const { isHookCalled, hasEnded } = claimed.progress;
      // Released before the next round. Any other claim ends with its lease. Without an outage, a payment whose hook was called waits
      // that long: the failure is not recorded, and without a pause the hook would be called in every round.
      if (mayReleaseAfter(error) && !hasEnded && (isOutage || !isHookCalled)) {
        this.#unreleasedClaims.set(claimed.payment.id, claimed);
      }
      // The connector logs an outage.
      if (isOutage) return;
      this.#logError(`payment ${claimed.payment.id} could not be processed. It is retried later.`, error);
    }
  }

  /** Never rejects. Claims that cannot be released now are released before the next round, or after the outage. */
  #releaseUnreleased(): Promise<void> {
    // A round must also wait for a release that `resume` has begun.
    this.#released = this.#released.then(() => this.#tryRelease());
    return this.#released;
  }

  async #tryRelease(): Promise<void> {
    const claims = [...this.#unreleasedClaims.values()];
    this.#unreleasedClaims.clear();
    if (claims.length === 0) return;
    const keep = (claimed: ClaimedPayment): void => {
      const { id } = claimed.payment;
      // Keeps a newer claim of the same payment.
      if (!this.#unreleasedClaims.has(id)) this.#unreleasedClaims.set(id, claimed);
    };
    try {
      // A row that another transaction has locked must not delay the round.
      const skipped = await releaseClaims(this.#context.db, claims, { keepsCalls: true, skipsLocked: true });
      for (const claimed of claims) {
        const { id } = claimed.payment;
        if (skipped.has(id)) keep(claimed);
        // A payment that was claimed for a recheck may be due only hours later.
        else void this.recheck(id);
      }
    } catch (error) {
      if (mayReleaseAfter(error)) for (const claimed of claims) keep(claimed);
    }
  }

  #logError(what: string, error: unknown): void {
    this.#context.logger.error(`express-intents: ${what}`, { message: describeError(error).message });
  }
}
