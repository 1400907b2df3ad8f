import { setTimeout as wait } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import type { Wallet } from '../../src/emulator/index.js';
import { openCode } from '../../src/emulator/read-code.js';
import { Browser } from '../support/browser.js';

type Answer = Awaited<ReturnType<Browser['send']>>;

/** What a fleet is asked for while its processes come and go. */
export class Shoppers {
  /** Every intent whose secret came out, and those of them that were paid. */
  readonly created: string[] = [];
  readonly paid: string[] = [];
  logins = 0;
  /** Requests that were sent once more after a 503, as the button does. */
  repeated = 0;
  readonly faults: string[] = [];
  /** From the end of a stream of events to its next beginning, in milliseconds. */
  readonly gapsMs: number[] = [];
  readonly #origin: string;
  readonly #wallet: Wallet;
  readonly #running = new Set<Promise<void>>();
  readonly #sources: EventSource[] = [];
  #isOver = false;

  constructor(origin: string, wallet: Wallet) {
    this.#origin = origin;
    this.#wallet = wallet;
  }

  /** Comes so often, until `leave`; one of ten pays, one of twenty logs in. */
  async come(perSecond: number): Promise<void> {
    const startedMs = performance.now();
    for (let turn = 0; !this.#isOver; turn += 1) {
      const earlyMs = startedMs + (turn * 1_000) / perSecond - performance.now();
      if (earlyMs > 0) await wait(earlyMs);
      this.#do(turn % 20 === 5 ? this.#logIn() : this.#buy(turn % 10 === 0));
    }
  }

  /** Listens to an intent that nobody pays, until `leave`. */
  async listen(): Promise<void> {
    const { id, cookie } = await this.#begin('payment');
    let lostMs = 0;
    const source = new EventSource(`${this.#origin}/intent/${id}/events`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, cookie } }),
    });
    source.addEventListener('error', () => {
      lostMs ||= performance.now();
    });
    source.addEventListener('status', () => {
      if (lostMs > 0) this.gapsMs.push(performance.now() - lostMs);
      lostMs = 0;
    });
    this.#sources.push(source);
  }

  async leave(): Promise<void> {
    this.#isOver = true;
    for (const source of this.#sources) source.close();
    await Promise.all(this.#running);
  }

  #do(work: Promise<void>): void {
    const done = work
      .catch((error: Error) => void this.faults.push(error.message))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  async #buy(pays: boolean): Promise<void> {
    const { id, secret } = await this.#begin('payment');
    this.created.push(id);
    if (!pays) return;
    await this.#wallet.pay(secret);
    this.paid.push(id);
  }

  async #logIn(): Promise<void> {
    const { id, secret, browser } = await this.#begin('login');
    await this.#wallet.login(secret);
    const { status, body } = await this.#insist(() => browser.send('POST', '/session', { id }));
    if (status !== 200) throw new Error(`A login was answered ${status} ${JSON.stringify(body)}.`);
    this.logins += 1;
  }

  async #begin(mode: string) {
    const browser = new Browser(this.#origin);
    const key = { 'idempotency-key': `"${crypto.randomUUID()}"` };
    const { status, body } = await this.#insist(() => browser.send('POST', '/intent', { mode }, key));
    if (status !== 201) throw new Error(`An intent was answered ${status} ${JSON.stringify(body)}.`);
    const secret = String(body.client_secret);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { id: openCode(secret).id, secret, browser, cookie };
  }

  /** Sends it again as long as it is answered 503, which says that it can be. */
  async #insist(send: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await send();
      if (answer.status !== 503 || tries === 5) return answer;
      this.repeated += 1;
      await wait(200 * tries);
    }
  }
}
