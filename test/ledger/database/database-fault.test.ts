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

test.each<[string, Error, RegExp]>([
  [
    'an unknown host',
    error('getaddrinfo ENOTFOUND db.shop', { code: 'ENOTFOUND' }),
    /host does not exist\. Correct it/,
  ],
  [
    'a port without a listener',
    error('connect ECONNREFUSED 10.0.0.7:5432', { code: 'ECONNREFUSED' }),
    /^Start the database/,
  ],
  ['a firewall', error('timeout expired'), /firewall/],
  [
    'a wrong password',
    error('password authentication failed for user "shop"', { code: '28P01' }),
    /user and the password/,
  ],
  [
    'a missing password',
    error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
    /user:password@host/,
  ],
  ['a missing database', error('database "shop" does not exist', { code: '3D000' }), /createdb/],
  ['a server without TLS', error('The server does not support SSL connections'), /Remove sslmode/],
  [
    'a client that pg_hba.conf does not list without TLS',
    error('no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", no encryption', { code: '28000' }),
    /sslmode=verify-full.* If that does not help: Add a line/,
  ],
  [
    'a private certificate authority',
    error('self-signed certificate in certificate chain', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    /sslrootcert=/,
  ],
  ['an expired certificate', error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }), /^Renew/],
  [
    'a missing certificate file',
    error('ENOENT: no such file, open /ca.pem', { code: 'ENOENT', syscall: 'open' }),
    /Restore the file/,
  ],
  [
    'a read-only replica',
    error('cannot execute UPDATE in a read-only transaction', { code: '25006' }),
    /to the primary/,
  ],
  ['an exhausted connection limit', error('sorry, too many clients already', { code: '53300' }), /max_connections/],
  ['a slow statement', error('canceling statement due to statement timeout', { code: '57014' }), /pg_stat_activity/],
  ['a missing privilege', error('permission denied for table intents', { code: '42501' }), /`grant select, insert/],
  ['a connection that was reset', error('read ECONNRESET', { code: 'ECONNRESET' }), /^Check the port/],
])('the diagnosis of %s names the fix, also as the cause of another error', (_name, cause, fix) => {
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
