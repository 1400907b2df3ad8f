import { setTimeout as wait } from 'node:timers/promises';
import type { Wallet } from '../../src/simulator/index.js';
import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';

/** A request and its response. */
export interface Answered {
  readonly path: string;
  readonly atMs: number;
  readonly tookMs: number;
  /** The status, and the code of an error. */
  readonly how: string;
}

/** Customers that arrive regardless of errors: they buy, pay a moment later, and log in. */
export class SteadyCustomers {
  /** All intents whose secret was returned. */
  readonly created: string[] = [];
  readonly paid: string[] = [];
  readonly answers: Answered[] = [];
  logins = 0;
  /** The number of logins that were rejected as completed after a response that allowed a retry. */
  lostLogins = 0;
  /** The number of intents that were requested again because the balancer used a connection that its process was closing. */
  resent = 0;
  /** Errors that no visitor may see. */
  readonly faults: string[] = [];
  readonly #origin: string;
  readonly #wallet: Wallet;
  readonly #running = new Set<Promise<void>>();
  #isOver = false;

  constructor(origin: string, wallet: Wallet) {
    this.#origin = origin;
    this.#wallet = wallet;
  }

  /** Sends customers at this rate, or as fast as possible, until `leave`. One of three pays, one of five logs in. */
  async come(perSecond: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const visit = turn % 5 === 4 ? this.#logIn() : this.#buy(turn % 3 === 0);
      const done = visit
        .catch((error: Error) => void this.faults.push(`${error.message} ${error.cause ?? ''}`))
        .finally(() => this.#running.delete(done));
      this.#running.add(done);
      await wait(1_000 / perSecond);
      while (this.#running.size > perSecond) await Promise.race(this.#running);
    }
  }

  async leave(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async ask(browser: Browser, path: string, body: unknown, headers = {}) {
    const atMs = performance.now();
    const answer = await browser.send('POST', path, body, headers);
    const how = [answer.status, answer.body.code].filter(Boolean).join(' ');
    this.answers.push({ path, atMs, tookMs: performance.now() - atMs, how });
    const isFine = [200, 201].includes(answer.status);
    if (!isFine && JSON.stringify(answer.body).includes('secret'))
      throw new Error('An error response contains a secret.');
    return { ...answer, how, isFine };
  }

  async #begin(mode: string) {
    const browser = new Browser(this.#origin);
    const key = { 'idempotency-key': `"${crypto.randomUUID()}"` };
    let answer = await this.ask(browser, '/intent', { mode }, key);
    if (answer.status === 502) {
      this.resent += 1;
      answer = await this.ask(browser, '/intent', { mode }, key);
    }
    const { body, how, isFine } = answer;
    if (!isFine) {
      if (how !== '503 ledger_unavailable') throw new Error(`An intent was answered ${how}.`);
      return undefined;
    }
    const secret = String(body.client_secret);
    const id = intentIdOf(secret);
    this.created.push(id);
    return { browser, secret, id };
  }

  async #buy(pays: boolean): Promise<void> {
    const begun = await this.#begin('payment');
    if (!begun || !pays) return;
    await wait(Math.random() * 1_500);
    await this.#wallet.pay(begun.secret);
    this.paid.push(begun.id);
  }

  async #logIn(): Promise<void> {
    const begun = await this.#begin('login');
    if (!begun) return;
    await wait(Math.random() * 500);
    await this.#wallet.login(begun.secret);
    for (let attempts = 1; ; attempts += 1) {
      const { how } = await this.ask(begun.browser, '/session', { id: begun.id });
      if (how === '200') this.logins += 1;
      else if (how === '404 intent_not_found' && attempts > 1) this.lostLogins += 1;
      else if (/^502$|^503 (?:ledger|session)_unavailable$/.test(how) && !this.#isOver) {
        await wait(500);
        continue;
      } else if (!this.#isOver) throw new Error(`A login was answered ${how}.`);
      return;
    }
  }
}
