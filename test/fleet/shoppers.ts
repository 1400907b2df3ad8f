import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import type { Wallet } from '../../src/simulator/index.js';
import { openCode } from '../../src/simulator/wallet/wallet-request.js';
import { Browser } from '../support/browser/browser.js';

type Answer = Awaited<ReturnType<Browser['send']>>;

/** The results of all visits. */
export interface Visits {
  /** All payments whose secret was returned, and those that were paid. */
  readonly created: readonly string[];
  readonly paid: readonly string[];
  readonly logins: number;
  /** Logins that a process completed before it died without a response. They cannot be completed again. */
  readonly lostLogins: number;
  /** The number of retries by the first response: `503 closing`, `502` of the balancer, or `no answer`. */
  readonly repeated: Readonly<Record<string, number>>;
  /** Errors that no visitor may see. */
  readonly faults: readonly string[];
  /** The time until each ended event stream was reopened, in milliseconds. */
  readonly gapsMs: readonly number[];
  /** The number of event streams that ended and were not reopened. */
  readonly lostStreams: number;
  /** The number of streams that the browser closed because the response was not a stream. */
  readonly givenUp: number;
  /** The CPU time of the visitors, in milliseconds. */
  readonly cpuMs: number;
}

/** How long `leave` waits for event streams to be reopened, in milliseconds. This usually takes a few seconds. */
const patienceMs = 60_000;

/** A login that another request has completed, whose response was lost. */
class LostLogin extends Error {}

/** Visitors of a fleet whose processes restart. */
export class Shoppers {
  readonly #created: string[] = [];
  readonly #paid: string[] = [];
  readonly #repeated: Record<string, number> = {};
  readonly #faults: string[] = [];
  readonly #gapsMs: number[] = [];
  readonly #origin: string;
  readonly #wallet: Wallet;
  readonly #running = new Set<Promise<void>>();
  readonly #sources = new Set<EventSource>();
  /** The time of the end of each stream that is not reopened yet, by intent. */
  readonly #lostAtMs = new Map<string, number>();
  #logins = 0;
  #lostLogins = 0;
  #givenUp = 0;
  #isOver = false;

  constructor(origin: string, wallet: Wallet) {
    this.#origin = origin;
    this.#wallet = wallet;
  }

  /** Sends visitors at this rate, or as fast as possible, until `leave`. One of `payEvery` pays, one of twenty logs in. */
  async come(perSecond: number, payEvery: number): Promise<void> {
    const startedMs = performance.now();
    for (let turn = 0; !this.#isOver; turn += 1) {
      const earlyMs = startedMs + (turn * 1_000) / perSecond - performance.now();
      if (earlyMs > 0) await wait(earlyMs);
      while (this.#running.size > perSecond / 4) await Promise.race(this.#running);
      // `leave` waits only for the visits that have begun.
      if (this.#isOver) return;
      this.#do(turn % 20 === 5 ? this.#logIn() : this.#buy(turn % payEvery === 0));
    }
  }

  /** Opens the event stream of an unpaid intent until `leave`. */
  async listen(): Promise<void> {
    const { id, cookie } = await this.#begin('payment');
    this.#created.push(id);
    await once(this.#open(id, cookie), 'status');
  }

  async leave(): Promise<Visits> {
    this.#isOver = true;
    const endMs = performance.now() + patienceMs;
    while (this.#lostAtMs.size > 0 && performance.now() < endMs) await wait(20);
    for (const source of this.#sources) source.close();
    await Promise.all(this.#running);
    const { user, system } = process.cpuUsage();
    return {
      ...{ created: this.#created, paid: this.#paid, logins: this.#logins, lostLogins: this.#lostLogins },
      ...{ repeated: this.#repeated, faults: this.#faults, gapsMs: this.#gapsMs, givenUp: this.#givenUp },
      lostStreams: this.#lostAtMs.size,
      cpuMs: Math.round((user + system) / 1_000),
    };
  }

  #open(id: string, cookie: string): EventSource {
    const source = new EventSource(`${this.#origin}/intent/${id}/events`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, cookie } }),
    });
    this.#sources.add(source);
    source.addEventListener('error', () => {
      if (!this.#lostAtMs.has(id)) this.#lostAtMs.set(id, performance.now());
      if (source.readyState !== EventSource.CLOSED) return;
      // The page polls the status meanwhile, and opens another stream when it is visible again.
      this.#givenUp += 1;
      this.#sources.delete(source);
      this.#do(wait(1_000).then(() => void this.#open(id, cookie)));
    });
    source.addEventListener('status', () => this.#isBack(id));
    return source;
  }

  #isBack(id: string): void {
    const lostAtMs = this.#lostAtMs.get(id);
    if (lostAtMs !== undefined) this.#gapsMs.push(performance.now() - lostAtMs);
    this.#lostAtMs.delete(id);
  }

  #do(work: Promise<void>): void {
    const done = work
      .catch((error: Error) => {
        if (error instanceof LostLogin) this.#lostLogins += 1;
        else this.#faults.push(error.message);
      })
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  async #buy(pays: boolean): Promise<void> {
    const { id, secret } = await this.#begin('payment');
    this.#created.push(id);
    if (!pays) return;
    await this.#wallet.pay(secret);
    this.#paid.push(id);
  }

  async #logIn(): Promise<void> {
    const { id, secret, browser } = await this.#begin('login');
    await this.#wallet.login(secret);
    const { status, body } = await this.#sendWithRetries(() => browser.send('POST', '/session', { id }));
    if (status === 404) throw new LostLogin();
    if (status !== 200) throw new Error(`A login was answered ${status} ${JSON.stringify(body)}.`);
    this.#logins += 1;
  }

  async #begin(mode: string) {
    const browser = new Browser(this.#origin);
    const key = { 'idempotency-key': `"${crypto.randomUUID()}"` };
    const { status, body } = await this.#sendWithRetries(() => browser.send('POST', '/intent', { mode }, key));
    if (status !== 201) throw new Error(`An intent was answered ${status} ${JSON.stringify(body)}.`);
    const secret = String(body.client_secret);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { id: openCode(secret).id, secret, browser, cookie };
  }

  /**
   * Retries like the button: after a 503, which allows it, and after a response that is not of the site.
   */
  async #sendWithRetries(send: () => Promise<Answer>): Promise<Answer> {
    for (let attempts = 1; ; attempts += 1) {
      // A browser also retries when nginx has closed an idle connection.
      const answer = await send().catch((error: Error) => {
        if (attempts === 6) throw error;
      });
      if (answer && ((answer.status !== 503 && answer.status !== 502) || attempts === 6)) return answer;
      const what = answer ? [answer.status, answer.body.code].filter(Boolean).join(' ') : 'no answer';
      this.#repeated[what] = (this.#repeated[what] ?? 0) + 1;
      await wait(200 * attempts);
    }
  }
}
