import { exponentialBackoffMs } from '../../async/backoff.js';
import { unavailableEvent } from '../database/database-connector.js';
import { DatabaseOutage } from '../database/database-fault.js';
import { AdaptiveLimit } from './adaptive-limit.js';
import {
  claimDue,
  claimNamed,
  correctDueTimes,
  findUnpaid,
  type LaneLimits,
  releaseAllClaims,
  releaseClaims,
} from './claim-payments.js';
import { type ClaimedPayment, holdLease, type Lease, LeaseLost } from './claimed-payment.js';
import { errorDetails } from './error-text.js';
import { HookLanes, type Lane, lanes } from './hook-lanes.js';
import { RecheckQueue } from './recheck-queue.js';
import { settlePayment } from './settle-payment.js';
import type { SettlementContext, WorkContext } from './settlement-context.js';

// The life of a payment. Its state is a column of its row, so it survives every process; a trigger of the database permits
// only these transitions. The status that the sequencer gives to the ledger is their only cause: what wallets, browsers and
// webhooks report is a hint to poll earlier. Scanned and declined are shown to the browser and never recorded.
//
//     (created) creating -- the sequencer accepted the intent ----------------> open
//     open       -- status: submitted ----------------------------------------> submitted
//     open       -- not submitted within watchMs -----------------------------> expired
//     expired    -- status: submitted ----------------------------------------> submitted
//     expired    -- not submitted for another watchMs ------------------------> expired, no longer polled
//     submitted  -- still submitted after settleDelayMs, verifyPayment agrees,
//                   onPaid succeeds ------------------------------------------> settled, in the transaction of onPaid
//     submitted  -- status: no longer submitted ------------------------------> open
//     submitted  -- onPaid or verifyPayment fails too often ------------------> dead (dead letter)
//     settled    -- two polls say no longer submitted, onReversed succeeds ---> reversed, in the transaction of onReversed
//     settled    -- onReversed fails too often -------------------------------> dead
//     settled    -- no reversal within reversalWatchMs -----------------------> settled, no longer polled
//     reversed   -- status: submitted again ----------------------------------> open
//     dead       -- retry ----------------------------------------------------> submitted, or settled if onReversed failed
//     expired, reversed -- retry ---------------------------------------------> open
//
// A payment is worked on when it is due (`due_at`) or rechecked, by the one process that claims it for the time of a lease:
// see `claimed-payment.ts`. Which hooks run at the same time, and the quarantine of a hook that ends its process, is decided
// by the lane of the payment: see `hook-lanes.ts`.

/** The reason to abort work that has not ended when the ledger is closed. */
class Closing extends Error {
  constructor() {
    super('The ledger is being closed.');
    this.name = 'Closing';
  }
}

/** Payments worked on for each status call: while some wait for the service, others are written. */
const paymentsPerCall = 4;

/** After a failure of the database the interval of rounds grows up to this, in milliseconds. */
const longestPauseMs = 10_000;

/** How often due times are corrected that were set while the clock of the database was ahead, in milliseconds. */
const correctEveryMs = 10_000;

/**
 * Settles payments in rounds: each claims rechecked payments, then due ones, as many as there is room for, and works on them at
 * once. States: created; running from `start`; closed.
 */
export class Settlement {
  readonly #context: WorkContext;
  readonly #rechecks: RecheckQueue;
  /** Of status calls. */
  readonly #calls: AdaptiveLimit;
  readonly #running = new Map<Lease, Promise<void>>();
  /** Claims that could not be written or released because the database failed. */
  readonly #unreleasedClaims = new Map<string, ClaimedPayment>();
  #isClosed = false;
  /** How many payments of each lane are being worked on. */
  readonly #held: Record<Lane, number> = { first: 0, retry: 0, slow: 0, alone: 0 };
  /** The lanes in which the last claim used all the room, so that more payments may be due. */
  #fullLanes = new Set<Lane>();
  #failures = 0;
  #isReported = false;
  #lastRoundMs = performance.now();
  #correctedAtMs = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => undefined;
  #loop: Promise<void> | undefined;

  constructor(context: SettlementContext) {
    const { askStatus, settings, timing } = context;
    this.#calls = new AdaptiveLimit({ most: settings.settlementConcurrency });
    this.#context = {
      ...context,
      lanes: new HookLanes(timing.hooksAtOnce),
      askStatus: (id, options) => this.#calls.run(options.signal, () => askStatus(id, options)),
    };
    this.#rechecks = new RecheckQueue(() => this.#wake());
  }

  /** Since the last successful round, or since the creation, in milliseconds. */
  get lastPollMsAgo(): number {
    return Math.round(performance.now() - this.#lastRoundMs);
  }

  /** The longest wait of a payment for the first call of its hook while other hooks run, in milliseconds. */
  get firstCallWaitMs(): number {
    return Math.round(this.#context.lanes.firstCallWaitMs);
  }

  /** Works in rounds until `close`. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** The database works again: releases the claims that it could not, and continues at once. */
  resume(): void {
    void this.#releaseUnreleased().finally(() => this.#wake());
  }

  /** Polls a payment now. Resolves when that was tried, whatever the outcome. */
  recheck(id: string): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#rechecks.add(id);
  }

  /**
   * Claims as much as there is room for and begins to work on it.
   * @returns how much was claimed; `idle` waits for the end of the work
   */
  async round(): Promise<number> {
    const { db, timing } = this.#context;
    const rechecked = await this.#claimRechecks(this.#room.first);
    const room = this.#room;
    this.#fullLanes = new Set(lanes);
    if (lanes.every((lane) => room[lane] === 0)) return rechecked;
    const due = await claimDue(db, room, timing);
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

  /** Resolves when nothing is being worked on. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Claims no more, lets running work end, and releases the claims of work that takes too long. */
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

  // ---- Rounds ----

  async #run(): Promise<void> {
    const { db } = this.#context;
    if (!db.isShared)
      await releaseAllClaims(db).catch((error) =>
        this.#logError('earlier claims wait for the end of their leases', error),
      );
    while (!this.#isClosed) {
      await this.#tryRound();
      if (this.#failures > 0 || !this.#hasMore) await this.#pause();
    }
  }

  async #tryRound(): Promise<void> {
    try {
      if (performance.now() - this.#correctedAtMs > correctEveryMs) await this.correctDueTimes();
      await this.round();
      if (this.#isReported) this.#context.observer?.emit({ type: 'ledger_recovered' });
      this.#isReported = false;
      this.#failures = 0;
      this.#lastRoundMs = performance.now();
    } catch (error) {
      this.#failures += 1;
      // Reported once. The connector reports an outage of the database.
      if (!this.#isReported && !(error instanceof DatabaseOutage)) {
        this.#isReported = true;
        this.#logError('payments cannot be polled', error);
        this.#context.observer?.emit(unavailableEvent(error));
      }
    }
  }

  /** How many more payments of each lane to work on. Payments that wait for their hook must leave room for the others. */
  get #room(): LaneLimits {
    const most = paymentsPerCall * this.#calls.limit;
    const left = (lane: Lane, limit: number): number => Math.max(0, limit - this.#held[lane]);
    return {
      // A payment whose hook runs makes no status call, so hooks that hang take no room from the others.
      first: left('first', most + this.#context.lanes.running('first')),
      retry: left('retry', Math.max(1, Math.floor(most / 2))),
      slow: left('slow', 1),
      alone: left('alone', 1),
    };
  }

  /** Whether a claim may find something at once. A claim in vain costs the database as much as a successful one. */
  get #hasMore(): boolean {
    const room = this.#room;
    if (room.first > 0 && this.#rechecks.size > 0) return true;
    return lanes.some((lane) => room[lane] > 0 && this.#fullLanes.has(lane));
  }

  /** Until there is room again, a recheck, or the time of the next round. */
  #pause(): Promise<void> {
    const { roundMs } = this.#context.timing;
    const capMs = Math.max(longestPauseMs, roundMs);
    const pauseMs = exponentialBackoffMs({ firstMs: roundMs, capMs }, Math.min(this.#failures, 10));
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      const timer = setTimeout(resolve, pauseMs * (0.9 + Math.random() * 0.2)).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  // ---- Claimed payments ----

  async #claimRechecks(room: number): Promise<number> {
    const { db, timing } = this.#context;
    const ids = room > 0 ? this.#rechecks.take(room) : [];
    if (ids.length === 0) return 0;
    const missed = new Set(ids);
    try {
      const claims = await claimNamed(db, ids, timing);
      for (const claimed of claims) {
        missed.delete(claimed.payment.id);
        this.#begin(claimed);
      }
      // Only an unpaid payment is rechecked again: any other is settled, or waits until it is due.
      const unpaid = missed.size > 0 ? await findUnpaid(db, [...missed]) : [];
      for (const id of missed) if (!unpaid.includes(id) && missed.delete(id)) this.#rechecks.done(id);
      return claims.length;
    } finally {
      this.#rechecks.missed([...missed]);
    }
  }

  #begin(claimed: ClaimedPayment): void {
    const lease = holdLease(this.#context.db, claimed, this.#context.timing.leaseMs);
    this.#held[claimed.lane] += 1;
    const ended = this.#work(claimed, lease).finally(() => {
      lease.stop();
      this.#running.delete(lease);
      this.#held[claimed.lane] -= 1;
      this.#rechecks.done(claimed.payment.id);
      if (this.#hasMore) this.#wake();
    });
    this.#running.set(lease, ended);
  }

  async #work(claimed: ClaimedPayment, lease: Lease): Promise<void> {
    try {
      await settlePayment(this.#context, claimed, lease.signal);
    } catch (error) {
      // The process that has claimed the payment works on it.
      if (error instanceof LeaseLost) return;
      if (error instanceof Closing) return releaseClaims(this.#context.db, [claimed]).catch(() => undefined);
      // Released when the database works again; at the latest the claim ends with its lease.
      if (error instanceof DatabaseOutage) return void this.#unreleasedClaims.set(claimed.payment.id, claimed);
      this.#logError(`the payment ${claimed.payment.id} could not be processed`, error);
    }
  }

  /** Never rejects. Claims that cannot be released now are released at the end of the next outage. */
  async #releaseUnreleased(): Promise<void> {
    const claims = [...this.#unreleasedClaims.values()];
    this.#unreleasedClaims.clear();
    if (claims.length === 0) return;
    try {
      await releaseClaims(this.#context.db, claims);
      // A payment that was claimed for a recheck may be due only hours later.
      for (const { payment } of claims) void this.recheck(payment.id);
    } catch (error) {
      if (!(error instanceof DatabaseOutage)) return;
      for (const claimed of claims) {
        const { id } = claimed.payment;
        // A newer claim of the same payment stays.
        if (!this.#unreleasedClaims.has(id)) this.#unreleasedClaims.set(id, claimed);
      }
    }
  }

  #logError(what: string, error: unknown): void {
    this.#context.logger.error(`express-intents: ${what}`, { message: errorDetails(error).message });
  }
}
