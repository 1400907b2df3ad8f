import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { IntentPage, LedgerIntent, ListOptions, NewIntent, ReplayedIntent } from '../../../src/ledger/ledger.js';
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

/** A process with a ledger. Calls reject once it has died. */
export class LedgerProcess {
  /** The signal or exit code that ended it. */
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

  /** @param handlers the functions that the process calls: `status`, `hook`, `log`, `stop` */
  static async start(orders: ChildOrders, handlers: Handlers): Promise<LedgerProcess> {
    program ??= compile(new URL('./ledger-child.ts', import.meta.url));
    const child = fork(await program, [JSON.stringify(orders)], {
      serialization: 'advanced',
      // The process dies before optimized code pays off.
      execArgv: ['--liftoff-only'],
    });
    return new LedgerProcess(child, handlers);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Sends a signal. The process may have ended. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  ready = (): Promise<void> => this.#request('ready');
  recordIntent = (intent: NewIntent): Promise<void> => this.#request('recordIntent', intent);
  reserve = (intent: NewIntent, key: object): Promise<ReplayedIntent | undefined> =>
    this.#request('reserve', intent, key);
  confirm = (id: string): Promise<void> => this.#request('confirm', id);
  recheck = (id: string): Promise<void> => this.#request('recheck', id);
  retry = (id: string): Promise<boolean> => this.#request('retry', id);
  find = (id: string): Promise<LedgerIntent | undefined> => this.#request('find', id);
  list = (options: ListOptions): Promise<IntentPage> => this.#request('list', options);
  paymentsFor = (browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]> =>
    this.#request('paymentsFor', browser, resource);
  canCompleteLogin = (id: string, browser: Uint8Array, ttlMs: number): Promise<boolean> =>
    this.#request('canCompleteLogin', id, browser, ttlMs);
  completeLogin = (login: object): Promise<boolean> => this.#request('completeLogin', login);
  /** Plans a signal at a point; undefined cancels it. */
  failAt = (fault: PlannedFault | undefined): Promise<void> => this.#request('failAt', fault);
  close = (): Promise<void> => this.#request('close');
  evidence = (): Promise<Omit<Evidence, 'sequencer'>> => this.#request('evidence');

  #request<Value>(name: string, ...args: unknown[]): Promise<Value> {
    return this.#call<Value>('call', name, ...args);
  }
}
