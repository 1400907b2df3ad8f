import { IntentError } from '../../../src/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';

type Method = Exclude<keyof Ledger, 'database'>;
type Moment = 'before' | 'after';
type AnyMethod = (...given: never[]) => Promise<unknown>;

/** Makes single calls of a ledger fail like a database: before the write, or after it. */
export class LedgerFaults {
  /** The called methods, in order. */
  readonly calls: { readonly method: Method; readonly given: readonly unknown[] }[] = [];
  readonly #faults = new Map<Method, Moment>();

  /** The next call of a method fails. */
  failOnce(method: Method, moment: Moment): void {
    this.#faults.set(method, moment);
  }

  /** The first argument of each call of a method, usually an id. */
  firstOf(method: Method): unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ given }) => given[0]);
  }

  wrap(ledger: Ledger): Ledger {
    const { database, ...methods } = ledger;
    // The same members with functions of the same type.
    const faulty = (Object.entries(methods) as [Method, AnyMethod][]).map(([name, method]) => [
      name,
      this.#faulty(name, method),
    ]);
    return { database, ...(Object.fromEntries(faulty) as unknown as typeof methods) };
  }

  #faulty(method: Method, act: AnyMethod): AnyMethod {
    return async (...given) => {
      this.calls.push({ method, given });
      const moment = this.#faults.get(method);
      this.#faults.delete(method);
      if (moment === 'before') throw down();
      const result = await act(...given);
      if (moment === 'after') throw down();
      return result;
    };
  }
}

const down = (): IntentError => new IntentError('ledger_unavailable', 'The test has cut the line to the database.');
