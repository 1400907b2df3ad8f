import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { IntentPage, LedgerIntent, ListOptions, NewIntent, RepeatedIntent } from '../../../src/ledger/ledger.js';
import { compile } from '../../support/runner/child-program.js';
import type { ChildOrders, PlannedFault } from './child-orders.js';
import type { Evidence } from './evidence.js';
import { connectPeer, type Handlers } from './peer.js';

let program: Promise<string> | undefined;
const running = new Set<LedgerProcess>();

afterAll(async () => {
  for (const child of running) child.signal('SIGKILL');
  await Promise.all([...running].map(({ exited }) => exited));
});

/** A process that holds a ledger. Calls of one that has died reject. */
export class LedgerProcess {
  /** The signal that ended it, or how else. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #call: ReturnType<typeof connectPeer>;
  #isGone = false;

  private constructor(child: ChildProcess, handlers: Handlers) {
    this.#child = child;
    this.#call = connectPeer(child, handlers);
    running.add(this);
    this.exited = once(child, 'exit').then(([code, signal]) => {
      this.#isGone = true;
      running.delete(this);
      return String(signal ?? code);
    });
  }

  /** @param handlers what it asks for: `status`, `hook`, `log`, `stopping` */
  static async start(orders: ChildOrders, handlers: Handlers): Promise<LedgerProcess> {
    program ??= compile(new URL('./ledger-child.ts', import.meta.url));
    const child = fork(await program, [JSON.stringify(orders)], {
      serialization: 'advanced',
      // A life is too short for code that is compiled better.
      execArgv: ['--liftoff-only'],
    });
    return new LedgerProcess(child, handlers);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** The process may be dead already. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  ready = (): Promise<void> => this.#ask('ready');
  record = (intent: NewIntent): Promise<void> => this.#ask('record', intent);
  reserve = (intent: NewIntent, key: object): Promise<RepeatedIntent | undefined> => this.#ask('reserve', intent, key);
  confirm = (id: string): Promise<void> => this.#ask('confirm', id);
  recheck = (id: string): Promise<void> => this.#ask('recheck', id);
  retry = (id: string): Promise<boolean> => this.#ask('retry', id);
  find = (id: string): Promise<LedgerIntent | undefined> => this.#ask('find', id);
  list = (options: ListOptions): Promise<IntentPage> => this.#ask('list', options);
  paymentsFor = (browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]> =>
    this.#ask('paymentsFor', browser, resource);
  canCompleteLogin = (id: string, browser: Uint8Array, ttlMs: number): Promise<boolean> =>
    this.#ask('canCompleteLogin', id, browser, ttlMs);
  completeLogin = (login: object): Promise<boolean> => this.#ask('completeLogin', login);
  /** Has it come to its end, or sleep, at a point; undefined: no more. */
  failAt = (fault: PlannedFault | undefined): Promise<void> => this.#ask('failAt', fault);
  close = (): Promise<void> => this.#ask('close');
  evidence = (): Promise<Omit<Evidence, 'sequencer'>> => this.#ask('evidence');

  #ask<Value>(name: string, ...given: unknown[]): Promise<Value> {
    return this.#call<Value>('call', name, ...given);
  }
}
