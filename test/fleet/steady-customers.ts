import { setTimeout as wait } from 'node:timers/promises';
import type { Wallet } from '../../src/emulator/index.js';
import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';

/** How a request was answered. */
export interface Answered {
  readonly path: string;
  readonly atMs: number;
  readonly tookMs: number;
  /** The status, and the code of a problem. */
  readonly how: string;
}

/** Customers that keep coming whatever happens: they buy, pay a moment later, and log in. */
export class SteadyCustomers {
  /** Every intent whose secret came out. */
  readonly created: string[] = [];
  readonly paid: string[] = [];
  readonly answers: Answered[] = [];
  logins = 0;
  /** Logins that were refused as over, after an answer that said to try again. */
  lostLogins = 0;
  /** Intents that were asked for once more, since the balancer took a connection that its process was just closing. */
  resent = 0;
  /** What nobody may ever see. */
  readonly faults: string[] = [];
  readonly #origin: string;
  readonly #wallet: Wallet;
  readonly #running = new Set<Promise<void>>();
  #isOver = false;

  constructor(origin: string, wallet: Wallet) {
    this.#origin = origin;
    this.#wallet = wallet;
  }

  /** Comes so often, or as often as the machine allows, until `leave`: one of three pays, one of five logs in. */
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
    if (!isFine && JSON.stringify(answer.body).includes('secret')) throw new Error('A secret came with a refusal.');
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
    for (let tries = 1; ; tries += 1) {
      const { how } = await this.ask(begun.browser, '/session', { id: begun.id });
      if (how === '200') this.logins += 1;
      else if (how === '404 intent_not_found' && tries > 1) this.lostLogins += 1;
      else if (/^502$|^503 (?:ledger|session)_unavailable$/.test(how) && !this.#isOver) {
        await wait(500);
        continue;
      } else if (!this.#isOver) throw new Error(`A login was answered ${how}.`);
      return;
    }
  }
}
