import { IntentError, type IntentErrorOptions, withPeriod } from '../../errors.js';

// Classifies the error of a database call: an error of the statement, a failure of this one call, or an outage that
// affects all calls. Finds the cause and the fix.

/** The database is unavailable to all calls. The connector logs an outage once, not once for each call. */
export class DatabaseOutage extends IntentError {
  constructor(message: string, options?: IntentErrorOptions) {
    super('ledger_unavailable', message, options);
  }
}

/** An outage that only a restart of this process ends. */
export class DatabaseLost extends DatabaseOutage {}

/** Messages of the driver (`pg`) itself, which the database did not send. */
const lostInDriver = /^Connection terminated|^Client (?:has|was) |^Query read timeout|^timeout exceeded/;

/** Codes of the operating system, such as `ECONNRESET`, but not of Node, such as `ERR_INVALID_ARG_TYPE`. */
const systemCode = /^E(?!RR_)[A-Z_]+$/;

/**
 * SQLSTATEs after which the same statement may succeed on another connection or later: connection exceptions (08),
 * insufficient resources (53), shutdown or timeout (57), system errors (58), an idle or overlong transaction (25P03,
 * 25P04), and a server that accepts no writes because it is not the primary (25006).
 */
const unavailable = /^(?:08|53|57|58)|^25P0[34]$|^25006$/;

/** The subset that affects only one statement or one transaction. */
const affectsOneCall = /^57014$|^25P0[34]$|^53400$/;

/** The subset after which the connection stays usable: timeout or cancel of one statement, insufficient resources. */
const keepsConnection = /^57014$|^53/;

export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !systemCode.test(code) ? code : undefined;
}

/** Too few or too many values. Most errors of poolers are 08P01 too, but only Postgres names the routine. */
function hasWrongValueCount(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown };
  return code === '08P01' && routine === 'exec_bind_message';
}

/** Whether a connection is usable after this error. If the database did not report the error, the connection counts as unusable. */
export function isUsableAfter(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (hasWrongValueCount(error)) return true;
  return state !== undefined && (keepsConnection.test(state) || !unavailable.test(state));
}

/**
 * A prepared statement failed, because the tables or the session have changed since its connection was opened. The same statement
 * or transaction succeeds over another connection, so this is not an outage.
 */
export class ConnectionOutdated extends IntentError {
  constructor(cause: unknown) {
    const what = 'The tables have changed since the connection to the database was opened';
    super('ledger_unavailable', withFix(what, cause, 'Repeat the call.'), { cause });
  }
}

/**
 * The result of a prepared statement has other types (0A000). It is missing (26000), or exists already (42P05). Its parameters, or
 * those that a PL/pgSQL function has prepared in the session, have types that no longer fit (42804, 42846, 42883).
 */
const outdated = /^(?:0A000|26000|42P05|42804|42846|42883)$/;

/** Whether a prepared statement may succeed on a new connection. */
export const isOutdated = (error: unknown): boolean => outdated.test(sqlStateOf(error) ?? '');

/** Turns the error of an unavailable database into `ledger_unavailable`. Returns any other error unchanged. */
export function toLedgerError(error: unknown): unknown {
  if (error instanceof IntentError || hasWrongValueCount(error)) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const state = sqlStateOf(error);
  const isUnavailable = state
    ? unavailable.test(state)
    : systemCode.test(String(code)) || lostInDriver.test(String(message));
  if (!isUnavailable) return error;
  const what = 'The database failed';
  if (!state || !affectsOneCall.test(state)) return databaseOutage(what, error);
  return new IntentError('ledger_unavailable', withFix(what, error, diagnoseDatabase(error)?.fix), { cause: error });
}

export function ledgerUnavailable(what: string, cause?: unknown, fix?: string): IntentError {
  return new IntentError('ledger_unavailable', withFix(what, cause, fix), cause ? { cause } : {});
}

/** The error of a call after `router.close()`. */
export const ledgerClosed = (): IntentError =>
  ledgerUnavailable('The ledger is closed, because router.close() was called. Await all other calls first');

export function databaseOutage(what: string, cause: unknown): DatabaseOutage {
  return new DatabaseOutage(withFix(what, cause, diagnoseDatabase(cause)?.fix), { cause });
}

function withFix(what: string, cause: unknown, fix?: string): string {
  return fix ? `${withPeriod(withReason(what, cause))} ${fix}` : withReason(what, cause);
}

function withReason(what: string, cause: unknown): string {
  const { code, errors } = (cause ?? {}) as { code?: unknown; errors?: unknown };
  // A host with several addresses: each has an error of its own, and the aggregate error has no text.
  const each = Array.isArray(errors) ? errors : [cause];
  const messages = each.map((one) => (one as { message?: unknown } | undefined)?.message).filter(Boolean);
  const reason = [messages.join('; '), typeof code === 'string' && `(${code})`].filter(Boolean).join(' ');
  return reason ? `${what}: ${reason}` : `${what}.`;
}

export interface DatabaseDiagnosis {
  /** Undefined if the message of the error describes it. */
  readonly why?: string;
  readonly fix: string;
}

export const grantsFix = `\
The role must be able to connect. Either an administrator runs \`create schema express_intents authorization <role>\`, and the \
role then owns the tables. Or another role runs \
\`npx express-intents migrate\`, then \`grant usage on schema express_intents to <role>\` and \
\`grant select, insert, update, delete on all tables in schema express_intents to <role>\`.`;

export const unreachableFix =
  'Start the database, correct the host and port in INTENT_DATABASE_URL, or allow this machine in the firewall.';

/** Errors that the database reports, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const fixesByState: readonly (readonly [state: RegExp, fix: string])[] = [
  [
    /^28/,
    'Correct the user and the password in INTENT_DATABASE_URL. In both, percent-encode all characters except letters and digits.',
  ],
  [/^3D000$/, 'Create it with `createdb`, or correct the name at the end of INTENT_DATABASE_URL.'],
  [/^53300$/, 'Close unused connections, raise max_connections, or connect through pgbouncer.'],
  [/^53100$/, 'Free space on the disk of the database server.'],
  [/^42501$/, grantsFix],
  [/^57014$/, 'A statement exceeded its timeout or was canceled. Find what delays it in pg_stat_activity.'],
  [/^25P0[34]$/, 'A transaction was idle or open for too long. Do slow work outside of transactions and hooks.'],
  [/^57P0/, 'The server is starting or shutting down, or ended the connection. Wait, or start it.'],
  [/^25006$/, 'Set INTENT_DATABASE_URL to the primary, not to a read-only replica.'],
];

/** Errors of the network and of TLS, by the code that Node gives them. */
const fixesByCode: readonly (readonly [code: RegExp, fix: string, why?: string])[] = [
  [/^ENOTFOUND$/, 'The host does not exist. Correct it in INTENT_DATABASE_URL.'],
  [/^EAI_/, 'DNS did not answer. Fix the name resolution of this machine.'],
  [/^(?:ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, unreachableFix],
  [/^(?:ECONNRESET|EPIPE)$/, 'Check the port, and any pooler or firewall.', 'it closed the connection'],
  [
    /^(?:EPROTO|ERR_SSL_)/,
    'Check the port, the TLS versions of the server, and whether it requires a client certificate.',
    'the TLS handshake failed',
  ],
  [/^CERT_HAS_EXPIRED$/, 'Renew the TLS certificate of the database.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Use a host name of the database certificate in INTENT_DATABASE_URL.'],
  [
    /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_)/,
    'Add the certificate authority to INTENT_DATABASE_URL: ?sslrootcert=<file>',
  ],
];

const notListed = 'it does not accept this user from this machine';
const addToHba = 'Add a line for this user and machine to pg_hba.conf on the database server.';

/** By the message of the server or the driver. Tried first, because the code of some errors is less precise. */
const diagnosesByMessage: readonly (readonly [text: RegExp, diagnosis: DatabaseDiagnosis])[] = [
  [
    /no pg_hba\.conf entry.*no encryption/,
    {
      why: `${notListed} without TLS`,
      fix: `Add ?sslmode=verify-full to INTENT_DATABASE_URL. If that does not help: ${addToHba}`,
    },
  ],
  [
    /no pg_hba\.conf entry/,
    {
      why: notListed,
      fix: addToHba,
    },
  ],
  [
    /client password must be a string/,
    {
      why: 'it requires a password, and none is set',
      fix: 'Set it in INTENT_DATABASE_URL: postgres://user:password@host/database',
    },
  ],
  [
    /does not support SSL/,
    { why: 'it does not support TLS', fix: 'Remove sslmode from INTENT_DATABASE_URL, or enable TLS in the server.' },
  ],
  [/^timeout exceeded|connection timeout|^timeout expired/, { why: 'connecting timed out', fix: unreachableFix }],
];

const unreadableFile: DatabaseDiagnosis = {
  why: 'a certificate that INTENT_DATABASE_URL names cannot be read',
  fix: 'Restore the file, or correct sslrootcert, sslcert and sslkey in INTENT_DATABASE_URL.',
};

/** The diagnosis of an error, by its code and message and those of its causes. Undefined if no fix is known. */
export function diagnoseDatabase(error: unknown): DatabaseDiagnosis | undefined {
  let each = error;
  for (let depth = 0; depth < 6 && typeof each === 'object' && each !== null; depth += 1) {
    const diagnosis = diagnoseOne(each);
    if (diagnosis) return diagnosis;
    const { errors, cause } = each as { readonly errors?: unknown; readonly cause?: unknown };
    each = Array.isArray(errors) ? errors[0] : cause;
  }
  return undefined;
}

function diagnoseOne(error: {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
}): DatabaseDiagnosis | undefined {
  const [message, code] = [String(error.message), String(error.code)];
  const byMessage = diagnosesByMessage.find(([known]) => known.test(message));
  if (byMessage) return byMessage[1];
  const byState = fixesByState.find(([known]) => known.test(code));
  const why = code.startsWith('28') ? `it refuses the user or the password (${message})` : message;
  if (byState) return { why, fix: byState[1] };
  if (/^(?:ENOENT|EACCES)$/.test(code) && error.syscall === 'connect') return { fix: unreachableFix };
  if (/^(?:ENOENT|EACCES)$/.test(code) && error.syscall === 'open') return unreadableFile;
  const byCode = fixesByCode.find(([known]) => known.test(code));
  if (!byCode) return undefined;
  const [, fix, text] = byCode;
  return text === undefined ? { fix } : { why: text, fix };
}
