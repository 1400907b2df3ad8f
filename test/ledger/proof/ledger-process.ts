import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IntentPage, LedgerIntent, ListOptions, NewIntent, RepeatedIntent } from '../../../src/ledger/ledger.js';
import type { ChildOrders } from './child-orders.js';
import type { Evidence } from './evidence.js';
import { connectPeer, type Handlers } from './peer.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bundle = path.join(root, `node_modules/.cache/express-intents/ledger-child-${process.pid}-${Date.now()}.mjs`);
let isBuilt = false;

/** The sources of the ledger as they are, in one file that starts fast; beside `node_modules`, where its packages are. */
function buildChild(): string {
  if (isBuilt) return bundle;
  const entry = fileURLToPath(new URL('./ledger-child.ts', import.meta.url));
  const flags = ['--bundle', '--packages=external', '--platform=node', '--format=esm', '--target=node20'];
  execFileSync(path.join(root, 'node_modules/.bin/esbuild'), [
    entry,
    ...flags,
    '--log-level=warning',
    `--outfile=${bundle}`,
  ]);
  isBuilt = true;
  return bundle;
}

afterAll(() => rmSync(bundle, { force: true }));

/** A process that holds a ledger. Calls of one that has died reject. */
export class LedgerProcess {
  readonly pid: number;
  /** The signal that ended it, or how else. */
  readonly exited: Promise<string>;
  readonly #call: ReturnType<typeof connectPeer>;
  #isGone = false;

  /** @param handlers what it asks for: `status`, `hook`, `log` */
  constructor(orders: ChildOrders, handlers: Handlers) {
    const child = fork(buildChild(), [JSON.stringify(orders)], {
      serialization: 'advanced',
      // A life is too short for code that is compiled better.
      execArgv: ['--liftoff-only'],
    });
    this.pid = child.pid ?? 0;
    this.exited = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
    void this.exited.then(() => {
      this.#isGone = true;
    });
    this.#call = connectPeer(child, handlers);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** The process may be dead already. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.#isGone) process.kill(this.pid, signal);
  }

  ready = (): Promise<void> => this.#ask('ready');
  record = (intent: NewIntent): Promise<void> => this.#ask('record', intent);
  reserve = (intent: NewIntent, key: object): Promise<RepeatedIntent | undefined> => this.#ask('reserve', intent, key);
  confirm = (id: string): Promise<void> => this.#ask('confirm', id);
  nudge = (id: string): Promise<void> => this.#ask('nudge', id);
  retry = (id: string): Promise<boolean> => this.#ask('retry', id);
  find = (id: string): Promise<LedgerIntent | undefined> => this.#ask('find', id);
  list = (options: ListOptions): Promise<IntentPage> => this.#ask('list', options);
  paymentsFor = (browser: Uint8Array, resource: string): Promise<readonly LedgerIntent[]> =>
    this.#ask('paymentsFor', browser, resource);
  canCompleteLogin = (id: string, browser: Uint8Array, ttlMs: number): Promise<boolean> =>
    this.#ask('canCompleteLogin', id, browser, ttlMs);
  completeLogin = (login: object): Promise<boolean> => this.#ask('completeLogin', login);
  close = (): Promise<void> => this.#ask('close');
  evidence = (): Promise<Omit<Evidence, 'sequencer'>> => this.#ask('evidence');

  #ask<Value>(name: string, ...given: unknown[]): Promise<Value> {
    return this.#call<Value>('call', name, ...given);
  }
}
