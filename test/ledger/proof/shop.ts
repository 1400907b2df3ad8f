import { setTimeout as wait } from 'node:timers/promises';
import type { IntentPage, LedgerIntent, NewIntent, RecordedTerms, ReplayedIntent } from '../../../src/ledger/ledger.js';
import type { SeededRandom } from '../../wire/seeded-random.js';
import type { HookOrders } from './child-orders.js';
import type { Handlers } from './peer.js';
import { SequencerTruth } from './sequencer-truth.js';

/** The behavior of a browser and of the hooks of an intent. */
const behaviors = [
  'normal',
  'normal',
  'normal',
  'unpaid',
  'fails',
  'always fails',
  'slow',
  'reversed',
  'reversed early',
] as const;
type Behavior = (typeof behaviors)[number];

/** The calls that the routes of a site make. The ledger may die at any time. */
export interface ShopLedger {
  ready(): Promise<void>;
  recordIntent(intent: NewIntent): Promise<void>;
  reserve(intent: NewIntent, idempotency: object): Promise<ReplayedIntent | undefined>;
  confirm(id: string): Promise<void>;
  recheck(id: string): Promise<void>;
  retry(id: string): Promise<boolean>;
  find(id: string): Promise<LedgerIntent | undefined>;
  list(options: { state: LedgerIntent['state'] }): Promise<IntentPage>;
  paymentsFor(browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]>;
  canCompleteLogin(id: string, browser: Uint8Array, ttlMs: number): Promise<boolean>;
  completeLogin(login: object): Promise<boolean>;
}

const ttlMs = 120_000;

/**
 * While so many wait for their orders, few others buy. Otherwise orders come in faster than a process on a busy machine settles
 * them, and a process reaches the rare points only after minutes.
 */
const maxWaiting = 12;

/**
 * A site, its customers and the sequencer. It outlives the ledgers. A secret is returned only after the ledger has recorded
 * the intent, and only an intent whose secret was returned is paid.
 */
export class Shop {
  readonly truth: SequencerTruth;
  readonly #log: string[] = [];
  readonly browser = new Uint8Array(32).fill(7);
  /** The logins that a ledger reported as completed, once for each report. */
  readonly loggedIn: string[] = [];
  /** The intents whose secret was returned, by idempotency key. */
  readonly #returned = new Map<string, Set<string>>();
  readonly #name: string;
  readonly #random: SeededRandom;
  readonly #behaviors = new Map<string, Behavior>();
  readonly #keys = new Map<string, NewIntent>();
  /** Paid, and no hook was called yet. */
  readonly #waiting = new Set<string>();
  /** A hook was called for them. */
  readonly #called = new Set<string>();
  #created = 0;
  #areFaultsOver = false;

  /** @param name part of the ids */
  constructor(name: string, random: SeededRandom) {
    this.#name = name;
    this.#random = random;
    this.truth = new SequencerTruth(() => !this.#areFaultsOver && random.below(20) === 0);
  }

  /** Ends all faults and visits, and retries dead letters and expired intents. */
  stopFaults(): void {
    this.#areFaultsOver = true;
  }

  /** The idempotency keys with more than one intent. */
  doubledKeys(): string[] {
    return [...this.#returned].filter(([, ids]) => ids.size > 1).map(([key]) => key);
  }

  /** The last log lines of the ledgers. */
  lastLines(): string {
    return this.#log.slice(-20).join('\n');
  }

  /** The functions that the process of a ledger calls. */
  readonly handlers: Handlers = {
    status: async (id: string) => {
      if (!this.#areFaultsOver && this.#random.below(8) === 0) await wait(this.#random.below(250));
      return this.truth.status(id);
    },
    hook: (by: string, id: string, attempt: number): HookOrders => this.#ordersFor(by, id, attempt),
    log: (line: string) => void this.#log.push(line),
  };

  /** Several concurrent visits. A failed call of the ledger is only an error page. */
  async visit(ledger: ShopLedger): Promise<void> {
    const visits = [
      () => this.#buy(ledger),
      () => this.#buy(ledger),
      () => this.#buyWithKey(ledger),
      () => this.#buyWithKey(ledger),
      () => this.#logIn(ledger),
      () => this.#browse(ledger),
      () => this.#retry(ledger),
    ];
    await ledger.ready().catch(() => undefined);
    await Promise.all(
      (this.#areFaultsOver ? [() => this.#retry(ledger)] : visits).map((visit) => visit().catch(() => undefined)),
    );
  }

  /** Retries dead letters and expired intents. */
  async #retry(ledger: ShopLedger): Promise<void> {
    for (const state of ['dead', 'expired'] as const) {
      const { intents } = await ledger.list({ state });
      for (const { id } of intents) if (this.#areFaultsOver || this.#random.below(3) === 0) await ledger.retry(id);
    }
  }

  #isFull(): boolean {
    return this.#waiting.size > maxWaiting && this.#random.below(8) > 0;
  }

  async #buy(ledger: ShopLedger): Promise<void> {
    if (this.#isFull()) return;
    const intent = this.#newIntent();
    this.truth.create(intent.id, intent.terms as RecordedTerms);
    await ledger.recordIntent(intent);
    await this.#answer(ledger, intent.id);
  }

  /** Two concurrent requests with one key, repeated until one is answered. */
  async #buyWithKey(ledger: ShopLedger): Promise<void> {
    if (this.#isFull()) return;
    const [unanswered] = this.#keys;
    const [key, intent] = unanswered ?? [`key-${this.#created}`, this.#newIntent()];
    this.#keys.set(key, intent);
    await Promise.all([this.#create(ledger, key, intent), this.#create(ledger, key, this.#newIntent())]);
    this.#keys.delete(key);
  }

  async #create(ledger: ShopLedger, key: string, intent: NewIntent): Promise<void> {
    const fingerprint = new Uint8Array(32).fill(9);
    const sealedSecret = `sealed ${intent.id}`;
    const repeated = await ledger.reserve(intent, { key, fingerprint, sealedSecret });
    const id = repeated?.id ?? intent.id;
    if (repeated === undefined || repeated.state === 'creating') {
      this.truth.create(id, (repeated?.terms ?? intent.terms) as RecordedTerms);
      await ledger.confirm(id);
    }
    this.#returned.set(key, new Set([...(this.#returned.get(key) ?? []), id]));
    await this.#answer(ledger, id);
  }

  /** Returns the secret to the browser, which pays or does not. */
  async #answer(ledger: ShopLedger, id: string): Promise<void> {
    this.truth.returnSecret(id);
    if (this.#behaviorOf(id) === 'unpaid' || this.truth.isPaid(id)) return;
    await wait(this.#random.below(20));
    // Another request with the same key was faster.
    if (this.truth.isPaid(id)) return;
    this.truth.pay(id);
    if (!this.#called.has(id)) this.#waiting.add(id);
    if (this.#random.below(2) === 0) await ledger.recheck(id);
  }

  async #logIn(ledger: ShopLedger): Promise<void> {
    const intent = { ...this.#newIntent(), terms: undefined };
    await ledger.recordIntent(intent);
    this.truth.returnSecret(intent.id);
    if (!(await ledger.canCompleteLogin(intent.id, this.browser, ttlMs))) throw new Error('It cannot be completed.');
    const login = { id: intent.id, browser: this.browser, ttlMs, userId: 'ada' };
    const tries = [ledger.completeLogin(login), ledger.completeLogin(login)];
    for (const isFirst of await Promise.all(tries)) if (isFirst) this.loggedIn.push(intent.id);
  }

  async #browse(ledger: ShopLedger): Promise<void> {
    const [payment] = await ledger.paymentsFor(this.browser, 'article');
    if (!payment) return;
    await ledger.find(payment.id);
    // The service repeats the webhook call of a payment that has perhaps settled.
    if (this.#random.below(2) === 0) await ledger.recheck(payment.id);
  }

  #newIntent(): NewIntent {
    this.#created += 1;
    const number = String(this.#created).padStart(6, '0');
    const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const amount = `${1 + this.#random.below(99)}.50`;
    const metadata = { order: this.#created };
    const terms = {
      ...{ amount, currency: 'usd', destination, description: 'an article' },
      ...{ login: false, resource: 'article', metadata },
    };
    return { id: `${this.#name.padEnd(37, 'x')}${number}`, terms, browser: this.browser };
  }

  #behaviorOf(id: string): Behavior {
    const behavior = this.#behaviors.get(id) ?? this.#random.pick(behaviors);
    this.#behaviors.set(id, behavior);
    return behavior;
  }

  #ordersFor(by: string, id: string, attempt: number): HookOrders {
    const behavior = this.#behaviorOf(id);
    this.#waiting.delete(id);
    this.#called.add(id);
    if (this.#areFaultsOver) return { waitMs: 0, throws: false };
    if (by === 'onReversed') {
      const throws = attempt === 1 && this.#random.below(2) === 0;
      // Some customers pay again after the reversal.
      if (!throws && this.#random.below(2) === 0) void wait(40).then(() => this.#payAgain(id));
      return { waitMs: 0, throws };
    }
    if (behavior === 'reversed') void wait(40).then(() => this.#reverse(id));
    if (behavior === 'reversed early') this.#reverse(id);
    const throws =
      behavior === 'always fails' || (attempt < 3 && (behavior === 'fails' || behavior === 'reversed early'));
    return { waitMs: behavior === 'slow' ? this.#random.below(250) : 0, throws };
  }

  #payAgain(id: string): void {
    if (!this.#areFaultsOver && !this.truth.isPaid(id)) this.truth.pay(id);
  }

  #reverse(id: string): void {
    if (!this.#areFaultsOver && this.truth.isPaid(id)) this.truth.reverse(id);
  }
}
