import {
  DatabaseOutage,
  databaseOutage,
  diagnoseDatabase,
  isUsableAfter,
  toLedgerError,
} from '../../../src/ledger/database/database-fault.js';

/** An error with a code, as drivers throw it. */
const fault = (code: string | undefined, message = 'went wrong'): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

// SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
describe('a failed statement', () => {
  test.each([
    ['a connection that failed', '08006'],
    ['a server that shuts down', '57P01'],
    ['a read-only server', '25006'],
    ['a connection that was reset', 'ECONNRESET'],
    ['a broken pipe, whose code has the length of an SQLSTATE', 'EPIPE'],
    ['a name that cannot be resolved', 'EAI_AGAIN'],
  ])('with %s (%s) is ledger_unavailable, and its connection is not reused', (_name, code) => {
    const error = fault(code);
    expect(toLedgerError(error)).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining(`The database failed: went wrong (${code})`),
      cause: error,
    });
    expect(isUsableAfter(error)).toBe(false);
  });

  test.each([
    ['a statement that took too long', '57014'],
    ['a full disk', '53100'],
  ])('with %s (%s) is ledger_unavailable, and its connection can be reused', (_name, code) => {
    expect(toLedgerError(fault(code))).toMatchObject({ code: 'ledger_unavailable' });
    expect(isUsableAfter(fault(code))).toBe(true);
  });

  test.each([
    ['a duplicate key', '23505'],
    ['a serialization failure', '40001'],
    ['a function that raises an exception', 'P0001'],
    ['a failed transaction', '25P02'],
  ])('with %s (%s) is returned unchanged, and its connection can be reused', (_name, code) => {
    const error = fault(code);
    expect(toLedgerError(error)).toBe(error);
    expect(isUsableAfter(error)).toBe(true);
  });

  // The error of Postgres 17. A pooler reports nearly everything as 08P01, without a routine.
  test('with too few values (08P01) is returned unchanged, and its connection can be reused', () => {
    const text = 'bind message supplies 1 parameters, but prepared statement "" requires 2';
    const error = Object.assign(fault('08P01', text), { routine: 'exec_bind_message' });
    expect(toLedgerError(error)).toBe(error);
    expect(isUsableAfter(error)).toBe(true);
    const fromPooler = fault('08P01', 'query_wait_timeout');
    expect(toLedgerError(fromPooler)).toBeInstanceOf(DatabaseOutage);
    expect(isUsableAfter(fromPooler)).toBe(false);
  });

  test.each(['57014', '25P03', '53400'])('with %s concerns one statement, and is no outage', (code) => {
    const explained = toLedgerError(fault(code));
    expect(explained).toMatchObject({ code: 'ledger_unavailable' });
    expect(explained).not.toBeInstanceOf(DatabaseOutage);
  });

  test.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'Query read timeout',
  ])('with the driver error "%s" is ledger_unavailable', (message) => {
    expect(toLedgerError(fault(undefined, message))).toMatchObject({ code: 'ledger_unavailable' });
    expect(isUsableAfter(fault(undefined, message))).toBe(false);
  });

  test.each([fault('ERR_INVALID_ARG_TYPE'), fault(undefined, 'circular structure'), 'no error', undefined, null])(
    'with any other error (%s) is returned unchanged, and its connection is not reused',
    (error) => {
      expect(toLedgerError(error)).toBe(error);
      expect(isUsableAfter(error)).toBe(false);
    },
  );
});

// Errors of pg and Node; those of Postgres have an SQLSTATE.
const error = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

test.each<[message: string, code: string | undefined, fix: RegExp]>([
  ['getaddrinfo ENOTFOUND db.shop', 'ENOTFOUND', /host does not exist\. Correct it/],
  ['connect ECONNREFUSED 10.0.0.7:5432', 'ECONNREFUSED', /^Start the database/],
  ['timeout expired', undefined, /firewall/],
  ['password authentication failed for user "shop"', '28P01', /user and the password/],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', undefined, /user:password@host/],
  ['database "shop" does not exist', '3D000', /createdb/],
  ['The server does not support SSL connections', undefined, /Remove sslmode/],
  ['no pg_hba.conf entry for host "10.0.0.9", user "shop", no encryption', '28000', /sslmode=verify-full.* Add a line/],
  ['self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN', /sslrootcert=/],
  ['certificate has expired', 'CERT_HAS_EXPIRED', /^Renew/],
  ['ENOENT: no such file, open /ca.pem', 'ENOENT', /Restore the file/],
  ['cannot execute UPDATE in a read-only transaction', '25006', /to the primary/],
  ['sorry, too many clients already', '53300', /max_connections/],
  ['canceling statement due to statement timeout', '57014', /pg_stat_activity/],
  ['permission denied for table intents', '42501', /`grant select, insert/],
  ['read ECONNRESET', 'ECONNRESET', /^Check the port/],
])('the diagnosis of "%s" (%s) names the fix, also as the cause of another error', (message, code, fix) => {
  const cause = error(message, code === undefined ? {} : { code, ...(code === 'ENOENT' && { syscall: 'open' }) });
  expect(diagnoseDatabase(cause)?.fix).toMatch(fix);
  expect(databaseOutage('It fails', new Error('on top', { cause })).message).toMatch(/^It fails: on top\. /);
  expect(diagnoseDatabase(new Error('on top', { cause }))?.fix).toMatch(fix);
});

test('the diagnosis of an unreadable ledger folder does not name a certificate', () => {
  const denied = error('EACCES: permission denied, stat', { code: 'EACCES', syscall: 'stat' });
  expect(diagnoseDatabase(denied)).toBeUndefined();
});

test('the failure of one call names its fix', () => {
  const timeout = error('canceling statement due to statement timeout', { code: '57014' });
  expect(toLedgerError(timeout)).toMatchObject({ message: expect.stringMatching(/\(57014\)\. A statement exceeded/) });
});
