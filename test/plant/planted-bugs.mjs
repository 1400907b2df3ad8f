// Bugs that would lose a payment, fulfill one twice, let a stranger in or reveal a secret, and the tests that must detect each.
// A bug names a module, a function or constant in it, and its effect (see `effects.mjs`).

import { always, ignoresColumn, never, replaces, returns, skips, sql, swaps } from './effects.mjs';

/**
 * @typedef {object} PlantedBug
 * @property {string} name one line
 * @property {string} file the path below `src/`
 * @property {string} anchor the function, method or constant
 * @property {import('./effects.mjs').Effect[]} effects
 * @property {string[]} caughtBy files in `test/`, without `.test.ts`
 * @property {boolean} [isQuick] whether `npm test` plants it, too
 */

const settlement = 'ledger/settlement/settlement';
const leases = 'ledger/settlement/leases';
const attacks = (...names) => names.map((name) => `attack/${name}`);

/** Writes outside of the transaction of the hook. */
const byItself = replaces('updateClaimed', ([, ...args]) => `updateClaimed(db, ${args.join(', ')})`);

/** @type {(name: string, place: string, effect: import('./effects.mjs').Effect[], caughtBy: string[]) => PlantedBug} */
const bug = (name, place, effects, caughtBy) => {
  const [file, anchor] = place.split(' ');
  return { name, file: `${file}.ts`, anchor, effects, caughtBy: caughtBy.map((test) => `${test}.test.ts`) };
};

const money = [
  {
    ...bug(
      'a payment is settled before its hook is called',
      'ledger/settlement/call-hook callInTransaction',
      [swaps('withTimeout', 'updateClaimed'), byItself],
      ['ledger/proof/embedded-crashes'],
    ),
    isQuick: true,
  },
  bug(
    'settling is written outside of the transaction of the hook',
    'ledger/settlement/call-hook callInTransaction',
    [byItself],
    [settlement],
  ),
  bug(
    'a hook that throws counts as a success',
    'ledger/settlement/call-hook callInTransaction',
    [replaces('hook', (_args, call) => `Promise.resolve(${call}).catch(() => undefined)`)],
    [settlement],
  ),
  bug(
    'a hook that ends its process in quarantine is called forever',
    'ledger/settlement/call-hook handleInterrupted',
    [never('lane')],
    ['ledger/settlement/quarantine'],
  ),
  bug(
    'a process that has lost its lease continues to write',
    'ledger/write-transition statementOf',
    [sql('coalesce(given.token, p.lease_token)', 'p.lease_token')],
    [leases],
  ),
  bug('no heartbeat', 'ledger/settlement/claimed-payment beat', [returns('undefined')], [leases]),
  bug(
    'a payment is claimed although another process has it',
    'ledger/settlement/claim-payments isFree',
    [sql('leased_until is null', 'true')],
    [leases],
  ),
  bug(
    'a job without onPaid settles the payments of the site',
    'ledger/settlement/required-hooks hasAllHooksSql',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    [returns('`(${hooks}::text[] is not null)`')],
    ['ledger/settlement/required-hooks'],
  ),
  bug(
    'a requested recheck does not poll the sequencer',
    'ledger/settlement/settle-payment settlePayment',
    [replaces('fetchStatusOrPollLater', () => 'Promise.resolve({ exists: true, intentSubmitted: true })')],
    [settlement],
  ),
  bug(
    'an unpaid intent counts as submitted',
    'ledger/settlement/settle-payment settlePayment',
    [never('intentSubmitted')],
    [settlement],
  ),
  bug(
    'a failed status call counts as unpaid, and the watch ends',
    'ledger/settlement/settle-payment fetchStatusOrPollLater',
    [replaces('failedPoll', () => 'watchUnpaid(context, claimed, { exists: true, intentSubmitted: false })')],
    [settlement],
  ),
  bug(
    'a payment is reversed after a single report',
    'ledger/settlement/settle-payment checkReversal',
    [never('reversalSuspected')],
    [settlement],
  ),
  bug(
    'a dead letter of onReversed is retried with onPaid',
    'ledger/intents/retry-intent transitionFor',
    [sql('retryReversed', 'retryPaid')],
    [settlement],
  ),
  bug(
    'a transaction is committed without a check that the ledger began it',
    'ledger/database/postgres/postgres-connection commit',
    [replaces('checkTransactionSql', () => "'select 1'")],
    ['ledger/database/transaction-scope'],
  ),
  bug(
    'the terms of a recorded intent can change',
    'ledger/migrations/001-intents intentsMigration',
    [
      sql(
        /for each row execute function express_intents.reject/g,
        'for each row when (false) execute function express_intents.reject',
      ),
    ],
    attacks('processes'),
  ),
  {
    ...bug(
      'an ERROR envelope counts as a response',
      'wire/envelope openResponse',
      [always('OK'), always('message')],
      ['sequencer/intent-client'],
    ),
    isQuick: true,
  },
  bug(
    'a scanned intent counts as submitted',
    'sequencer/calls flagsOf',
    [returns('(exists ? 4 : 0) + (codeScanned ? 2 : 0) + (intentSubmitted || codeScanned ? 1 : 0)')],
    ['sequencer/intent-client'],
  ),
  bug(
    'a create succeeds without proof that the intent exists',
    'sequencer/calls createIntent',
    [always('isProven')],
    ['sequencer/created-proof'],
  ),
  bug(
    'the secret is returned before the intent is recorded',
    'http/create-intent/create-intent createOrReplayIntent',
    [never('confirming')],
    ['http/create-intent/recorded-intents', 'http/create-intent/idempotency-key'],
  ),
  bug(
    'a repeated request sends new bytes',
    'http/create-intent/create-intent prepareRetry',
    [replaces('prepareIntent', ([context, terms]) => `prepareIntent(${context}, ${terms})`)],
    ['http/create-intent/idempotency-key'],
  ),
  bug(
    'the browser sets terms',
    'http/create-intent/payment-terms createTermsResolver',
    [replaces('requireTerms', (_args, call) => `({ ...${call}, ...orderIn(req), ...req.query })`)],
    attacks('terms'),
  ),
  bug(
    'an amount from the browser has no range',
    'http/create-intent/payment-terms createTermsResolver',
    [skips('requireInRange')],
    attacks('terms'),
  ),
  bug(
    'unknown fields of a request are accepted',
    'http/request/body-schemas intentRequestSchema',
    [replaces('strictObject', ([shape]) => `z.looseObject(${shape})`)],
    attacks('terms'),
  ),
  bug(
    'any payment covers the amount',
    'http/paywall/find-payment isSufficient',
    [returns('true')],
    attacks('processes'),
  ),
  bug(
    'a payment is for every resource',
    'ledger/intents/find-intents paymentsIn',
    [ignoresColumn('resource', 'text')],
    attacks('processes'),
  ),
  bug(
    'an idempotency key belongs to all browsers',
    'ledger/intents/find-intents findByIdempotencyKey',
    [ignoresColumn('browser', 'bytea')],
    attacks('processes'),
  ),
];

const logins = [
  bug('no origin check', 'http/request/origin-guard requireSameOrigin', [returns('undefined')], attacks('login')),
  bug('a login belongs to any browser', 'http/request/browser-cookie sameBrowser', [returns('true')], attacks('login')),
  bug(
    'a login in the ledger belongs to any browser',
    'ledger/intents/complete-login ofBrowser',
    [ignoresColumn('browser', 'bytea')],
    attacks('processes'),
  ),
  bug(
    'a login is completed by all concurrent requests',
    'http/session/login-store completeLogin',
    [never('userId')],
    attacks('login'),
  ),
  bug(
    'a login in the ledger is completed by all requests',
    'ledger/intents/complete-login completable',
    [sql("l.state = 'created'", "l.state <> 'creating'")],
    attacks('processes'),
  ),
  bug(
    'two processes call onLogin for one login at the same time',
    'ledger/intents/complete-login completeLoginOnce',
    [sql('pg_advisory_xact_lock(', 'abs(')],
    ['ledger/settlement/login-during-settlement'],
  ),
  bug(
    'a login in the ledger does not expire',
    'ledger/intents/complete-login completable',
    [sql(/l.created_at > .*millisecond'/g, '$$3::float8 is not null')],
    attacks('processes'),
  ),
  bug(
    'the session is not regenerated',
    'http/session/app-session replaceableSession',
    [replaces('replace', () => 'before')],
    attacks('login'),
  ),
  bug(
    'a login keeps all data of the session',
    'http/session/app-session replaceableSession',
    [replaces('pick', ([session]) => `contentOf(${session})`)],
    attacks('login'),
  ),
  bug('a refused login has a user', 'sequencer/calls requireOk', [returns('undefined')], attacks('lying-sequencer')),
  bug('a user id has any length', 'sequencer/calls readUserId', [never('userId')], attacks('lying-sequencer')),
];

const secrets = [
  bug(
    'a stored secret is not sealed',
    'http/create-intent/create-intent reserveIntent',
    [replaces('sealClientSecret', ([secret], call) => `(${call} + ${secret})`)],
    attacks('processes'),
  ),
  bug(
    'a client secret is logged',
    'http/create-intent/create-intent createIntentHandler',
    [replaces('sendJson', (_args, call) => `(context.logger.warn('created', { clientSecret }), ${call})`)],
    attacks('secrets'),
  ),
  bug(
    'a description is for every browser',
    'http/events/private-intent-cache getDescription',
    [returns('this.#descriptions.get(intentId)?.text')],
    attacks('descriptions'),
  ),
];

/** At most forty. */
export const plantedBugs = [...money, ...logins, ...secrets];
