// Bugs that would lose a payment, fulfill one twice or let a stranger in, and the tests that must detect each. A bug replaces
// an exact text of the sources. If that text has changed, update the bug.

import { removedDefenses } from './removed-defenses.mjs';

/**
 * @typedef {object} PlantedBug
 * @property {string} name one line
 * @property {string} file the path below `src/`
 * @property {string} from occurs in the file exactly once
 * @property {string} to
 * @property {string[]} caughtBy files in `test/`
 * @property {boolean} [isQuick] whether `npm test` plants it, too
 */

const settlement = 'ledger/settlement/settlement.test.ts';
const leases = 'ledger/settlement/leases.test.ts';
const quarantine = 'ledger/settlement/quarantine.test.ts';
const recorder = 'ledger/intents/intent-recorder.test.ts';
const records = 'ledger/intents/intent-records.test.ts';
const sharedWork = 'ledger/proof/shared-work.test.ts';
const embeddedCrashes = 'ledger/proof/embedded-crashes.test.ts';
const postgresFaults = 'ledger/proof/postgres-faults.full.test.ts';

const hookCall = 'return hook(payment, { tx, attempt, late, signal });';
const settling = '      await updateClaimed(tx, begun, changes, values);\n';
const hookTransaction = `const work: TransactionWork<void> = async (tx, abandoned) => {
      calledAtMs = performance.now();
      const call = (signal: AbortSignal): void | Promise<void> => {
        signalOfHook = signal;
        begun.progress.isHookCalled = true;
        return hook(payment, { tx, attempt, late, signal });
      };
      await withTimeout(settings.hookTimeoutMs, call, { signal: [leaseSignal, abandoned], error });
${settling}    };
    await db.transaction(work, { isHook: true, isRetry: attempt > 1 });`;

/** @type {readonly PlantedBug[]} */
export const plantedBugs = [
  {
    name: 'a statement that the database rejected counts as executed',
    file: 'async/batcher.ts',
    from: 'for (const { reject } of [...part, ...others, ...queued]) reject(error);',
    to: 'for (const { resolve } of [...part, ...others, ...queued]) resolve(undefined as Result);',
    caughtBy: [recorder],
  },
  {
    name: 'all requests of one statement get the result of the first',
    file: 'async/batcher.ts',
    from: 'resolve(results[index] as Result)',
    to: 'resolve(results[0] as Result)',
    caughtBy: [recorder],
  },
  {
    name: 'a locked intent counts as confirmed, and is never polled',
    file: 'ledger/intents/intent-recorder.ts',
    from: 'if (!isConfirmed) await confirmIntent(',
    to: 'if (!isConfirmed && !this.#db.isShared) await confirmIntent(',
    caughtBy: [recorder],
  },
  {
    name: 'two processes that reserve the same keys can deadlock',
    file: 'ledger/intents/record-intent.ts',
    from: '     order by browser, idempotency_key\n',
    to: '',
    caughtBy: [recorder],
  },
  {
    name: 'a job without onPaid settles the payments of the site',
    file: 'ledger/settlement/required-hooks.ts',
    from: 'export const hasAllHooksSql = (hooks: string): string =>\n  `not exists (',
    to: 'export const hasAllHooksSql = (hooks: string): string =>\n  `true or not exists (',
    caughtBy: ['ledger/settlement/required-hooks.test.ts'],
  },
  {
    name: 'a process that has lost its lease continues to write',
    file: 'ledger/settlement/claimed-payment.ts',
    from: 'where id = $1 and lease_token = $2::bigint and state = $3',
    to: 'where id = $1 and $2::bigint is not null and $3::text is not null',
    // The faults of the Postgres proof are random, so a run may miss it. The tests of leases do not depend on chance.
    caughtBy: [leases, postgresFaults],
  },
  {
    name: 'writes check the state and not the lease token',
    file: 'ledger/settlement/claimed-payment.ts',
    from: 'where id = $1 and lease_token = $2::bigint and state = $3',
    to: 'where id = $1 and $2::bigint is not null and state = $3',
    caughtBy: [leases],
  },
  {
    name: 'a payment is settled before its hook is called',
    file: 'ledger/settlement/call-hook.ts',
    from: hookTransaction,
    to: `await updateClaimed(db, begun, changes, values);
    ${hookTransaction.replace(settling, '')}`,
    caughtBy: [embeddedCrashes],
    isQuick: true,
  },
  {
    name: 'a payment is settled after the commit of its hook',
    file: 'ledger/settlement/call-hook.ts',
    from: hookTransaction,
    to: `${hookTransaction.replace(settling, '')}
    await updateClaimed(db, begun, changes, values);`,
    caughtBy: [postgresFaults],
  },
  {
    name: 'settling is written outside of the transaction of the hook',
    file: 'ledger/settlement/call-hook.ts',
    from: 'await updateClaimed(tx, begun, changes, values);',
    to: 'await updateClaimed(db, begun, changes, values);',
    caughtBy: [settlement],
  },
  {
    name: 'a hook that throws counts as a success',
    file: 'ledger/settlement/call-hook.ts',
    from: hookCall,
    to: 'return Promise.resolve(hook(payment, { tx, attempt, late, signal })).catch(() => undefined);',
    caughtBy: [settlement],
  },
  {
    name: 'the write that submits a payment does not record that its hook starts',
    file: 'ledger/settlement/claimed-payment.ts',
    from: '[settleDelayMs, runningHook ?? null, watchMs]',
    to: '[settleDelayMs, runningHook ? null : null, watchMs]',
    caughtBy: ['ledger/settlement/statements.test.ts'],
  },
  {
    name: 'a hook is recorded as started before it has a slot',
    file: 'ledger/settlement/settle-payment.ts',
    from: "lane === 'first' && lanes.isFree('first')",
    to: "lane === 'first' && lanes !== undefined",
    caughtBy: ['ledger/settlement/statements.test.ts'],
  },
  {
    name: 'a hook that ends its process in quarantine is called forever',
    file: 'ledger/settlement/call-hook.ts',
    from: "if (claimed.lane === 'quarantine') {\n    return hookFailed(",
    to: "if (claimed.lane === 'quarantine' && claimed.attempts < 0) {\n    return hookFailed(",
    caughtBy: [quarantine],
  },
  {
    name: 'an interrupted hook runs concurrently with others',
    file: 'ledger/settlement/call-hook.ts',
    from: "`lane = 'quarantine', due_at = now()",
    to: '`due_at = now()',
    caughtBy: [quarantine],
  },
  {
    name: 'a requested recheck does not poll the sequencer',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'const status = await fetchStatusOrPollLater(context, claimed, leaseSignal);',
    to: 'const status = { exists: true, intentSubmitted: true } as SequencerStatus | undefined;',
    caughtBy: [settlement],
  },
  {
    name: 'an existing intent counts as submitted',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'if (!status.intentSubmitted) return watchUnpaid(context, claimed, status);',
    to: 'if (!status.exists) return watchUnpaid(context, claimed, status);',
    caughtBy: [settlement],
  },
  {
    name: 'a scanned intent counts as submitted',
    file: 'sequencer/calls.ts',
    from: '  return (exists ? 4 : 0) + (codeScanned ? 2 : 0) + (intentSubmitted ? 1 : 0);',
    to: '  return (exists ? 4 : 0) + (codeScanned ? 2 : 0) + (intentSubmitted || codeScanned ? 1 : 0);',
    caughtBy: ['sequencer/intent-client.test.ts'],
  },
  {
    name: 'an evicted intent gets the status of the intent in its place',
    file: 'sequencer/watch/recent-statuses.ts',
    from: 'this.#slots.delete(this.#ids[slot] as string);',
    to: '',
    caughtBy: ['sequencer/watch/recent-statuses.test.ts'],
  },
  {
    name: 'the place of a deleted status is not used again',
    file: 'sequencer/watch/recent-statuses.ts',
    from: 'this.#freeSlots.push(slot);',
    to: '',
    caughtBy: ['sequencer/watch/recent-statuses.test.ts'],
  },
  {
    name: 'a failed status call counts as unpaid, and the watch ends',
    file: 'ledger/settlement/settle-payment.ts',
    from: `    await pollLater(context, claimed, reason, { ...claimed, capMs });
    return undefined;`,
    to: `    return { exists: true, intentSubmitted: false };`,
    caughtBy: [settlement],
  },
  {
    name: 'the watch ends with the page, 15 minutes after the intent was created',
    file: 'ledger/intents/record-intent.ts',
    from: "$11')}, now() + $12::float8 * interval '1 millisecond'",
    to: "$11')}, now() + least($12::float8, 900000) * interval '1 millisecond'",
    caughtBy: [settlement],
  },
  {
    name: 'the watch ends without a last poll',
    file: 'ledger/settlement/settle-payment.ts',
    from: '  const status = await fetchStatusOrPollLater(context, claimed, leaseSignal);',
    to: `  if (claimed.state === 'created' && claimed.watchExpired) {
    return watchUnpaid(context, claimed, { exists: true, intentSubmitted: false });
  }
  const status = await fetchStatusOrPollLater(context, claimed, leaseSignal);`,
    caughtBy: [settlement],
  },
  {
    name: 'a payment is reversed after a single report',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'if (!claimed.reversalSuspected) {',
    to: "if (String(claimed.reversalSuspected) === 'never') {",
    caughtBy: [settlement],
  },
  {
    name: 'a dead letter of onReversed is retried with onPaid',
    file: 'ledger/intents/retry-intent.ts',
    from: `when dead_letter_hook = 'onReversed' then 'settled'`,
    to: `when dead_letter_hook = 'never' then 'settled'`,
    caughtBy: [settlement],
  },
  {
    name: 'no heartbeat',
    file: 'ledger/settlement/claimed-payment.ts',
    from: 'beat().catch((error) => {',
    to: '(async () => beat)().catch((error) => {',
    caughtBy: [leases],
  },
  {
    name: 'a payment is claimed although another process has it',
    file: 'ledger/settlement/claim-payments.ts',
    from: 'const isFree = `(leased_until is null',
    to: 'const isFree = `(true or leased_until is null',
    caughtBy: [leases],
  },
  {
    name: 'a new process releases the claims of others in the same database',
    file: 'ledger/settlement/settlement.ts',
    from: 'if (!db.isShared)',
    to: 'if (String(db.isShared))',
    caughtBy: [sharedWork],
  },
  {
    name: 'no SKIP LOCKED: a claim waits for other processes',
    file: 'ledger/settlement/claim-payments.ts',
    from: 'for update skip locked)`',
    to: 'for update)`',
    caughtBy: [sharedWork],
  },
  {
    name: 'a login is completed by all concurrent requests',
    file: 'ledger/intents/complete-login.ts',
    from: 'and login_completed_at is null and created_at',
    to: 'and created_at',
    caughtBy: ['attack/processes.test.ts'],
  },
  {
    name: 'two processes call onLogin for one login at the same time',
    file: 'ledger/intents/complete-login.ts',
    from: 'pg_advisory_xact_lock(hashtextextended(',
    to: 'abs(hashtextextended(',
    caughtBy: ['ledger/settlement/login-during-settlement.test.ts'],
  },
  {
    name: 'the terms of an intent can change',
    file: 'ledger/migrations/001-intents.ts',
    from: '    is distinct from\n',
    to: '    is null and null is distinct from\n',
    caughtBy: [records],
  },
  {
    name: 'a transaction is committed without a check that the ledger began it',
    file: 'ledger/database/postgres/postgres-connection.ts',
    from: 'checkTransactionSql(mark)}; commit',
    to: "''}commit",
    caughtBy: ['ledger/database/transaction-scope.test.ts'],
  },
  {
    name: 'an ERROR envelope counts as a response',
    file: 'wire/envelope.ts',
    from: '  if (result === v1.Response.Result.ERROR) {',
    to: `  if (result === v1.Response.Result.ERROR) return body;
  if (result === v1.Response.Result.ERROR) {`,
    caughtBy: ['sequencer/intent-client.test.ts'],
    isQuick: true,
  },
  {
    name: 'a create succeeds without proof that the intent exists',
    file: 'sequencer/calls.ts',
    from: 'if (isProven || (await',
    to: 'if (isProven || transport || (await',
    caughtBy: ['sequencer/created-proof.test.ts'],
  },
  {
    name: 'the secret is returned before the intent is recorded',
    file: 'http/create-intent/create-intent.ts',
    from: 'return keyed ? keyed.ledger.confirm(id) : logins.record({ id, terms, browser: owner.hash });',
    to: `if (keyed) return keyed.ledger.confirm(id);
  logins.record({ id, terms, browser: owner.hash }).catch(() => undefined);
  return Promise.resolve();`,
    caughtBy: ['http/create-intent/recorded-intents.test.ts'],
  },
  {
    name: 'the secret of an idempotent request is returned before the intent is confirmed',
    file: 'http/create-intent/create-intent.ts',
    from: 'return keyed ? keyed.ledger.confirm(id) : logins.record({ id, terms, browser: owner.hash });',
    to: `if (!keyed) return logins.record({ id, terms, browser: owner.hash });
  keyed.ledger.confirm(id).catch(() => undefined);
  return Promise.resolve();`,
    caughtBy: ['http/create-intent/idempotency-key.test.ts'],
  },
  {
    name: 'a repeated request sends new bytes',
    file: 'http/create-intent/create-intent.ts',
    from: 'await prepareIntent(context, terms, clientSecret)',
    to: 'await prepareIntent(context, terms)',
    caughtBy: ['http/create-intent/idempotency-key.test.ts'],
  },
  ...removedDefenses,
];
