// Bugs that would lose a payment, fulfil one twice or let a stranger in, and the tests that must see each of them. A bug is an exact piece of
// the sources and what stands there instead: where the sources have moved on, it is to be planted anew.

import { defencesTakenOut } from './defences-taken-out.mjs';

/**
 * @typedef {object} PlantedBug
 * @property {string} name in one line
 * @property {string} file from `src/` on
 * @property {string} from stands in the file exactly once
 * @property {string} to
 * @property {string[]} caughtBy files in `test/`, and `-t` with a part of a title
 * @property {boolean} [isQuick] whether `npm test` plants it, too
 */

const settlement = 'ledger/settlement/settlement.test.ts';
const leases = 'ledger/settlement/leases.test.ts';
const quarantine = 'ledger/settlement/quarantine.test.ts';
const records = 'ledger/intents/intent-records.test.ts';
const sharedWork = 'ledger/proof/shared-work.test.ts';
const embeddedCrashes = 'ledger/proof/embedded-crashes.test.ts';
const postgresFaults = 'ledger/proof/postgres-faults.full.test.ts';

const hookCall = 'return hook(payment, { tx, attempt, late, signal });';
const settling = '      await updateClaimed(tx, begun, changes, values);\n';
const hookTransaction = `const work = async (tx: DatabaseTransaction): Promise<void> => {
      calledAtMs = performance.now();
      const call = (signal: AbortSignal): void | Promise<void> => {
        signalOfHook = signal;
        return hook(payment, { tx, attempt, late, signal });
      };
      await withTimeout(settings.hookTimeoutMs, call, { signal: lease });
${settling}    };
    await db.transaction(work, { isHook: true, isRetry: attempt > 1 });`;

/** @type {readonly PlantedBug[]} */
export const plantedBugs = [
  {
    name: 'a process that has lost its lease goes on writing',
    file: 'ledger/settlement/claimed-payment.ts',
    from: 'where id = $1 and lease_token = $2::bigint and state = $3',
    to: 'where id = $1 and $2::bigint is not null and $3::text is not null',
    // The faults of the Postgres proof are random: most runs detect it. The tests of leases detect it in every run.
    caughtBy: [leases, postgresFaults],
  },
  {
    name: 'the fence is left out, and the state alone is looked at',
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
    name: 'settling is written beside the transaction of the hook',
    file: 'ledger/settlement/call-hook.ts',
    from: 'await updateClaimed(tx, begun, changes, values);',
    to: 'await updateClaimed(db, begun, changes, values);',
    caughtBy: [settlement],
  },
  {
    name: 'a hook that throws is taken for one that has succeeded',
    file: 'ledger/settlement/call-hook.ts',
    from: hookCall,
    to: 'return Promise.resolve(hook(payment, { tx, attempt, late, signal })).catch(() => undefined);',
    caughtBy: [settlement],
  },
  {
    name: 'a hook that ends its process, and runs alone, is called without end',
    file: 'ledger/settlement/call-hook.ts',
    from: "if (claimed.hookRun === 'alone') {",
    to: "if (claimed.hookRun === 'alone' && claimed.attempts < 0) {",
    caughtBy: [quarantine],
  },
  {
    name: 'a hook that was interrupted runs beside others',
    file: 'ledger/settlement/call-hook.ts',
    from: "`lane = 'alone', due_at = now()",
    to: '`due_at = now()',
    caughtBy: [quarantine],
  },
  {
    name: 'a hint is believed, and the sequencer is not asked',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'const status = await askOrPollLater(context, claimed, lease);',
    to: 'const status = { exists: true, intentSubmitted: true } as SequencerStatus | undefined;',
    caughtBy: [settlement],
  },
  {
    name: 'an intent that exists is taken for one that was submitted',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'if (!status.intentSubmitted) return watchUnpaid(context, claimed, status);',
    to: 'if (!status.exists) return watchUnpaid(context, claimed, status);',
    caughtBy: [settlement],
  },
  {
    name: 'the wallet, which has scanned, is taken for the sequencer, which has not said that it was submitted',
    file: 'sequencer/calls.ts',
    from: 'return { exists, codeScanned, intentSubmitted };',
    to: 'return { exists, codeScanned, intentSubmitted: intentSubmitted || codeScanned };',
    caughtBy: ['sequencer/intent-client.test.ts'],
  },
  {
    name: 'an answer that cannot be had is taken for a no, and the watch ends',
    file: 'ledger/settlement/settle-payment.ts',
    from: `    await pollLater(context, claimed, error instanceof IntentError ? error.code : errorText(error));
    return undefined;`,
    to: `    return { exists: true, intentSubmitted: false };`,
    caughtBy: [settlement],
  },
  {
    name: 'the watch ends with the page: 15 minutes after the intent was created',
    file: 'ledger/intents/record-intent.ts',
    from: "$10')}, now() + $11::float8 * interval '1 millisecond')",
    to: "$10')}, now() + least($11::float8, 900000) * interval '1 millisecond')",
    caughtBy: [settlement],
  },
  {
    name: 'when the watch is over the sequencer is not asked once more',
    file: 'ledger/settlement/settle-payment.ts',
    from: '  const status = await askOrPollLater(context, claimed, lease);',
    to: `  if (claimed.state === 'open' && claimed.watchExpired) {
    return watchUnpaid(context, claimed, { exists: true, intentSubmitted: false });
  }
  const status = await askOrPollLater(context, claimed, lease);`,
    caughtBy: [settlement],
  },
  {
    name: 'a payment is taken back at the first word of it',
    file: 'ledger/settlement/settle-payment.ts',
    from: 'if (!claimed.reversalSuspected) {',
    to: "if (String(claimed.reversalSuspected) === 'never') {",
    caughtBy: [settlement],
  },
  {
    name: 'a dead letter of onReversed is taken up with onPaid',
    file: 'ledger/intents/record-intent.ts',
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
    name: 'work is claimed though another process has it',
    file: 'ledger/settlement/claim-payments.ts',
    from: 'const isFree = `(leased_until is null',
    to: 'const isFree = `(true or leased_until is null',
    caughtBy: [leases],
  },
  {
    name: 'a new process ends the claims of others in the same database',
    file: 'ledger/settlement/settlement.ts',
    from: 'if (!db.isShared)',
    to: 'if (String(db.isShared))',
    caughtBy: [sharedWork],
  },
  {
    name: 'no SKIP LOCKED: who claims waits for the others',
    file: 'ledger/settlement/claim-payments.ts',
    from: 'for update skip locked)`',
    to: 'for update)`',
    caughtBy: [sharedWork],
  },
  {
    name: 'a login is completed by everybody who asks at the same time',
    file: 'ledger/intents/complete-login.ts',
    from: 'and login_completed_at is null and created_at',
    to: 'and created_at',
    caughtBy: [records],
  },
  {
    name: 'the terms of an intent may change',
    file: 'ledger/migrations/001-intents.ts',
    from: '    is distinct from\n',
    to: '    is null and null is distinct from\n',
    caughtBy: [records],
  },
  {
    name: 'a transaction is committed without a check that it is still the one that was begun',
    file: 'ledger/database/postgres/postgres-connection.ts',
    from: 'checkTransaction(mark)}; commit',
    to: "''}commit",
    caughtBy: ['ledger/database/transaction-scope.test.ts'],
  },
  {
    name: 'an ERROR envelope is taken for an answer',
    file: 'wire/envelope.ts',
    from: '  if (result === v1.Response.Result.ERROR) {',
    to: `  if (result === v1.Response.Result.ERROR) return body;
  if (result === v1.Response.Result.ERROR) {`,
    caughtBy: ['sequencer/intent-client.test.ts'],
    isQuick: true,
  },
  {
    name: 'a create is believed without a proof that the intent exists',
    file: 'sequencer/calls.ts',
    from: 'if (isProven || (await',
    to: 'if (isProven || transport || (await',
    caughtBy: ['sequencer/created-proof.test.ts'],
  },
  {
    name: 'the secret leaves before the intent is written down',
    file: 'http/create-intent/create-intent.ts',
    from: 'else await logins.record({ id, terms, browser: browser.hash });',
    to: 'else logins.record({ id, terms, browser: browser.hash }).catch(() => undefined);',
    caughtBy: ['http/create-intent/recorded-intents.test.ts'],
  },
  {
    name: 'the secret of a repeatable request leaves before it is confirmed that the sequencer has it',
    file: 'http/create-intent/create-intent.ts',
    from: 'if (keyed) await keyed.ledger.confirm(id);',
    to: 'if (keyed) keyed.ledger.confirm(id).catch(() => undefined);',
    caughtBy: ['http/create-intent/idempotency-key.test.ts'],
  },
  {
    name: 'a repeated request sends new bytes',
    file: 'http/create-intent/create-intent.ts',
    from: 'await prepareIntent(context, terms, clientSecret)',
    to: 'await prepareIntent(context, terms)',
    caughtBy: ['http/create-intent/idempotency-key.test.ts'],
  },
  ...defencesTakenOut,
];
