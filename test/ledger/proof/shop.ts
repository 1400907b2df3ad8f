import { setTimeout as wait } from 'node:timers/promises';
import type { IntentPage, LedgerIntent, NewIntent, RecordedTerms, RepeatedIntent } from '../../../src/ledger/ledger.js';
import type { SeededRandom } from '../../wire/seeded-random.js';
import type { HookOrders } from './child-orders.js';
import type { Handlers } from './peer.js';
import { SequencerTruth } from './sequencer-truth.js';

/** What a browser does about an intent, and how its hooks fare. */
const tempers = [
  'calm',
  'calm',
  'calm',
  'unpaid',
  'fails',
  'poison',
  'slow',
  'taken back',
  'taken back early',
] as const;
type Temper = (typeof tempers)[number];

/** What the routes of a site ask of a ledger; here it may die at any time. */
export interface ShopLedger {
  ready(): Promise<void>;
  record(intent: NewIntent): Promise<void>;
  reserve(intent: NewIntent, idempotency: object): Promise<RepeatedIntent | undefined>;
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
 * A site, its customers and the sequencer: everything around the ledgers, which it outlives. A secret goes out only after
 * the ledger has said that it is written down; only what is out is paid.
 */
export class Shop {
  readonly truth: SequencerTruth;
  readonly #log: string[] = [];
  readonly browser = new Uint8Array(32).fill(7);
  /** Logins that a ledger has called completed, once each time. */
  readonly loggedIn: string[] = [];
  /** The intents whose secret was given for an idempotency key. */
  readonly #given = new Map<string, Set<string>>();
  readonly #name: string;
  readonly #random: SeededRandom;
  readonly #tempers = new Map<string, Temper>();
  readonly #keys = new Map<string, NewIntent>();
  #created = 0;
  #isCalm = false;

  /** @param name part of the ids */
  constructor(name: string, random: SeededRandom) {
    this.#name = name;
    this.#random = random;
    this.truth = new SequencerTruth(() => !this.#isCalm && random.below(20) === 0);
  }

  /** From now on nothing fails any more, nobody comes any more, and what was given up is taken up. */
  calmDown(): void {
    this.#isCalm = true;
  }

  /** Idempotency keys for which there was more than one intent. */
  doubledKeys(): string[] {
    return [...this.#given].filter(([, ids]) => ids.size > 1).map(([key]) => key);
  }

  /** What the ledgers have logged last. */
  lastLines(): string {
    return this.#log.slice(-20).join('\n');
  }

  /** What a ledger's process asks. */
  readonly handlers: Handlers = {
    status: async (id: string) => {
      if (!this.#isCalm && this.#random.below(8) === 0) await wait(this.#random.below(250));
      return this.truth.status(id);
    },
    hook: (by: string, id: string, attempt: number): HookOrders => this.#ordersFor(by, id, attempt),
    log: (line: string) => void this.#log.push(line),
  };

  /** Some customers come, all at once. What a ledger does not answer is an error page, and no more. */
  async visit(ledger: ShopLedger): Promise<void> {
    const visits = [
      () => this.#buy(ledger),
      () => this.#buy(ledger),
      () => this.#buyWithKey(ledger),
      () => this.#buyWithKey(ledger),
      () => this.#logIn(ledger),
      () => this.#lookAround(ledger),
      () => this.#takeUp(ledger),
    ];
    await ledger.ready().catch(() => undefined);
    await Promise.all(
      (this.#isCalm ? [() => this.#takeUp(ledger)] : visits).map((visit) => visit().catch(() => undefined)),
    );
  }

  /** Takes up what was given up. */
  async #takeUp(ledger: ShopLedger): Promise<void> {
    for (const state of ['dead', 'expired'] as const) {
      const { intents } = await ledger.list({ state });
      for (const { id } of intents) if (this.#isCalm || this.#random.below(3) === 0) await ledger.retry(id);
    }
  }

  async #buy(ledger: ShopLedger): Promise<void> {
    const intent = this.#newIntent();
    this.truth.create(intent.id, intent.terms as RecordedTerms);
    await ledger.record(intent);
    await this.#answer(ledger, intent.id);
  }

  /** Sent twice at once, and again as long as it was not answered. */
  async #buyWithKey(ledger: ShopLedger): Promise<void> {
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
    this.#given.set(key, new Set([...(this.#given.get(key) ?? []), id]));
    await this.#answer(ledger, id);
  }

  /** The secret goes out, and whoever has it does what they like. */
  async #answer(ledger: ShopLedger, id: string): Promise<void> {
    this.truth.handOut(id);
    if (this.#temperOf(id) === 'unpaid' || this.truth.isPaid(id)) return;
    await wait(this.#random.below(20));
    this.truth.pay(id);
    if (this.#random.below(2) === 0) await ledger.recheck(id);
  }

  async #logIn(ledger: ShopLedger): Promise<void> {
    const intent = { ...this.#newIntent(), terms: undefined };
    await ledger.record(intent);
    this.truth.handOut(intent.id);
    if (!(await ledger.canCompleteLogin(intent.id, this.browser, ttlMs))) throw new Error('It cannot be completed.');
    const login = { id: intent.id, browser: this.browser, ttlMs, userId: 'ada' };
    const tries = [ledger.completeLogin(login), ledger.completeLogin(login)];
    for (const isFirst of await Promise.all(tries)) if (isFirst) this.loggedIn.push(intent.id);
  }

  async #lookAround(ledger: ShopLedger): Promise<void> {
    const [payment] = await ledger.paymentsFor(this.browser, 'article');
    if (payment) await ledger.find(payment.id);
  }

  #newIntent(): NewIntent {
    this.#created += 1;
    const number = String(this.#created).padStart(6, '0');
    const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const amount = `${1 + this.#random.below(99)}.50`;
    const metadata = { order: this.#created };
    const terms = { amount, currency: 'usd', destination, login: false, resource: 'article', metadata };
    return { id: `${this.#name.padEnd(37, 'x')}${number}`, terms, browser: this.browser };
  }

  #temperOf(id: string): Temper {
    const temper = this.#tempers.get(id) ?? this.#random.pick(tempers);
    this.#tempers.set(id, temper);
    return temper;
  }

  #ordersFor(by: string, id: string, attempt: number): HookOrders {
    const temper = this.#temperOf(id);
    if (this.#isCalm) return { waitMs: 0, throws: false };
    if (by === 'onReversed') {
      const throws = attempt === 1 && this.#random.below(2) === 0;
      // Some think better of it, once they are told.
      if (!throws && this.#random.below(2) === 0) void wait(40).then(() => this.#payAgain(id));
      return { waitMs: 0, throws };
    }
    if (temper === 'taken back') void wait(40).then(() => this.#takeBack(id));
    if (temper === 'taken back early') this.#takeBack(id);
    const throws = temper === 'poison' || (attempt < 3 && (temper === 'fails' || temper === 'taken back early'));
    return { waitMs: temper === 'slow' ? this.#random.below(250) : 0, throws };
  }

  #payAgain(id: string): void {
    if (!this.#isCalm && !this.truth.isPaid(id)) this.truth.pay(id);
  }

  #takeBack(id: string): void {
    if (!this.#isCalm && this.truth.isPaid(id)) this.truth.takeBack(id);
  }
}
