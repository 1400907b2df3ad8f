// A process with a ledger that kills itself at a planned point. `LedgerProcess` starts it as one bundled file, with nothing in
// it but the ledger.
import { setTimeout as wait } from 'node:timers/promises';
import { createLedger } from '../../../src/ledger/create-ledger.js';
import type { Database } from '../../../src/ledger/database/database.js';
import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { migrate } from '../../../src/ledger/migrations/migrate.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import type { SequencerStatus } from '../../../src/ledger/settlement/settlement-context.js';
import type { ChildOrders, HookOrders, PlannedFault } from './child-orders.js';
import { effectsTable, insertEffect, readEvidence } from './evidence.js';
import { connectPeer } from './peer.js';
import { statementName } from './statement-name.js';
import { watchedDatabase } from './watched-database.js';

const orders = JSON.parse(process.argv[2] ?? '') as ChildOrders;
const { name, database, settings, timing, limits = { connectMs: 2_000, statementMs: 1_000 } } = orders;

let fault = orders.fault;
async function reach(point: string): Promise<void> {
  if (point !== fault?.point) return;
  const { times, signal } = fault;
  fault = times > 1 ? { ...fault, times: times - 1 } : undefined;
  if (times > 1) return;
  // The parent stops and resumes this process. If it stopped itself, the parent could resume it before it stops.
  if (signal === 'SIGSTOP') await call('stop');
  else process.kill(process.pid, signal);
}

/** Exits for a statement without a name: no crash would be planned at it. */
function nameOrExit(sql: string): string {
  try {
    return statementName(sql);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}

let unwatched: Database | undefined;
async function open(): Promise<Database> {
  unwatched = await (database.kind === 'postgres'
    ? openPostgres({ url: database.url, ...limits })
    : openDatabase({ database }));
  const watched = watchedDatabase(unwatched, reach, nameOrExit);
  await migrate(watched);
  await unwatched.query(effectsTable);
  return watched;
}

/** Never resolves. */
function endProcess(how: NonNullable<HookOrders['ends']>): Promise<never> {
  if (how === 'exit') process.exit(1);
  process.kill(process.pid, how);
  return new Promise(() => undefined);
}

const hook = (by: 'onPaid' | 'onReversed') => {
  return async (payment: Payment, { tx, attempt }: PaymentHookContext): Promise<void> => {
    const { id, amount, currency, metadata } = payment;
    const { waitMs, throws, ends } = await call<HookOrders>('hook', by, id, attempt);
    await tx.query(insertEffect, [id, by, amount, currency, JSON.stringify(metadata), name]);
    if (ends) await endProcess(ends);
    if (waitMs > 0) await wait(waitMs);
    if (throws) throw new Error('The printer is on fire.');
  };
};

type Login = Parameters<Ledger['completeLogin']>[0];

const handlers = (): Parameters<typeof connectPeer>[1] => ({
  ready: () => ledger.ready(),
  recordIntent: ledger.recordIntent,
  reserve: ledger.reserve,
  confirm: ledger.confirm,
  recheck: ledger.recheck,
  retry: ledger.retry,
  list: ledger.list,
  find: ledger.find,
  paymentsFor: ledger.paymentsFor,
  canCompleteLogin: ledger.canCompleteLogin,
  completeLogin: (login: Login) =>
    ledger.completeLogin(login, async (tx) => {
      await tx.query(insertEffect, [login.id, 'login', null, null, '{}', name]);
    }),
  close: ledger.close,
  failAt: (planned: PlannedFault | undefined) => {
    fault = planned;
  },
  evidence: () => unwatched && readEvidence(unwatched),
});

const log = (message: string, details?: unknown): void =>
  void call('log', `${name}: ${message} ${details ? JSON.stringify(details) : ''}`).catch(() => undefined);

const call = connectPeer(process, { call: (which: string, ...args: never[]) => handlers()[which]?.(...args) });
const ledger = createLedger({
  open,
  hooks: { onPaid: hook('onPaid'), onReversed: hook('onReversed') },
  fetchStatus: (id) => call<SequencerStatus>('status', id),
  fetchUserId: undefined,
  settings,
  timing,
  logger: { warn: log, error: log },
});
// Exits with its parent.
process.once('disconnect', () => process.exit());
