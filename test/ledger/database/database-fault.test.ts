import {
  DatabaseOutage,
  databaseOutage,
  diagnoseDatabase,
  isUsableAfter,
  toLedgerError,
} from '../../../src/ledger/database/database-fault.js';

/** As drivers throw it. */
const fault = (code: string | undefined, message = 'said somebody'): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

// SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
describe('what a failed statement means', () => {
  test.each([
    ['a connection that failed', '08006'],
    ['a server that shuts down', '57P01'],
    ['a server that is starting', '57P03'],
    ['an error of the disk', '58030'],
    ['a transaction that was idle for too long', '25P03'],
    ['a server that takes no writes', '25006'],
    ['a connection that was reset', 'ECONNRESET'],
    ['a pipe that broke, whose name has the length of an SQLSTATE', 'EPIPE'],
    ['a name that cannot be looked up', 'EAI_AGAIN'],
  ])('%s (%s): unavailable, and the connection is not used again', (_name, code) => {
    const error = fault(code);
    expect(toLedgerError(error)).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining(`The database failed: said somebody (${code})`),
      cause: error,
    });
    expect(isUsableAfter(error)).toBe(false);
  });

  test.each([
    ['a statement that took too long', '57014'],
    ['a full disk', '53100'],
    ['no memory', '53200'],
  ])('%s (%s): unavailable, and the connection is good for more', (_name, code) => {
    expect(toLedgerError(fault(code))).toMatchObject({ code: 'ledger_unavailable' });
    expect(isUsableAfter(fault(code))).toBe(true);
  });

  test.each([
    ['a key that is there already', '23505'],
    ['a deadlock', '40P01'],
    ['two transactions that cannot both be', '40001'],
    ['a function that raises an exception', 'P0001'],
    ['a table that is not there', '42P01'],
    ['a transaction that has failed before', '25P02'],
  ])('%s (%s): the error as it is, and the connection is good for more', (_name, code) => {
    const error = fault(code);
    expect(toLedgerError(error)).toBe(error);
    expect(isUsableAfter(error)).toBe(true);
  });

  // As Postgres 17 says it. A pooler says 08P01 of nearly everything, and has no routine.
  test('a statement with too few values (08P01): the error as it is, and the connection is good for more', () => {
    const said = 'bind message supplies 1 parameters, but prepared statement "" requires 2';
    const error = Object.assign(fault('08P01', said), { routine: 'exec_bind_message' });
    expect(toLedgerError(error)).toBe(error);
    expect(isUsableAfter(error)).toBe(true);
    const ofPooler = fault('08P01', 'query_wait_timeout');
    expect(toLedgerError(ofPooler)).toBeInstanceOf(DatabaseOutage);
    expect(isUsableAfter(ofPooler)).toBe(false);
  });

  test.each(['57014', '25P03', '53400'])('%s befalls one statement, and is no outage', (code) => {
    const explained = toLedgerError(fault(code));
    expect(explained).toMatchObject({ code: 'ledger_unavailable' });
    expect(explained).not.toBeInstanceOf(DatabaseOutage);
  });

  test.each([
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'Query read timeout',
  ])('the driver says: %s: unavailable', (message) => {
    expect(toLedgerError(fault(undefined, message))).toMatchObject({ code: 'ledger_unavailable' });
    expect(isUsableAfter(fault(undefined, message))).toBe(false);
  });

  test.each([fault('ERR_INVALID_ARG_TYPE'), fault(undefined, 'circular structure'), 'no error', undefined, null])(
    'whatever else it is (%s): as it is, and to be on the safe side the connection is not used again',
    (error) => {
      expect(toLedgerError(error)).toBe(error);
      expect(isUsableAfter(error)).toBe(false);
    },
  );
});

// As pg and Node throw it; what Postgres says is by SQLSTATE.
const error = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

test.each<[string, Error, RegExp]>([
  ['no such host', error('getaddrinfo ENOTFOUND db.shop', { code: 'ENOTFOUND' }), /host does not exist\. Correct it/],
  ['no DNS', error('getaddrinfo EAI_AGAIN db.shop', { code: 'EAI_AGAIN' }), /name resolution of this machine/],
  ['nobody listens', error('connect ECONNREFUSED 10.0.0.7:5432', { code: 'ECONNREFUSED' }), /^Start the database/],
  [
    'nobody listens at any address',
    Object.assign(new AggregateError([error('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED' })]), {
      code: 'ECONNREFUSED',
    }),
    /^Start the database/,
  ],
  ['no socket', error('connect ENOENT /run/x', { code: 'ENOENT', syscall: 'connect' }), /^Start the database/],
  ['a firewall', error('timeout expired'), /firewall/],
  [
    'a wrong password',
    error('password authentication failed for user "shop"', { code: '28P01' }),
    /user and the password/,
  ],
  ['no password', error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), /user:password@host/],
  ['no database', error('database "shop" does not exist', { code: '3D000' }), /createdb/],
  ['no TLS there', error('The server does not support SSL connections'), /Remove sslmode/],
  [
    'TLS wanted',
    error('no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", no encryption', { code: '28000' }),
    /sslmode=verify-full/,
  ],
  ['a stranger to it', error('no pg_hba.conf entry for host "10.0.0.9"', { code: '28000' }), /Add a line/],
  [
    'its own authority',
    error('self-signed certificate in certificate chain', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    /sslrootcert=/,
  ],
  [
    'another name',
    error('Hostname does not match', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    /host name of the database certificate/,
  ],
  ['an old certificate', error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }), /^Renew/],
  [
    'a file that is gone',
    error('ENOENT: no such file, open /ca.pem', { code: 'ENOENT', syscall: 'open' }),
    /Restore the file/,
  ],
  ['a replica', error('cannot execute UPDATE in a read-only transaction', { code: '25006' }), /to the primary/],
  ['no connection left', error('sorry, too many clients already', { code: '53300' }), /max_connections/],
  ['a full disk', error('could not extend file', { code: '53100' }), /Free space/],
])('%s: what mends it is said, also of what is behind another error', (_name, cause, fix) => {
  expect(diagnoseDatabase(cause)?.fix).toMatch(fix);
  expect(databaseOutage('It fails', new Error('on top', { cause })).message).toMatch(/^It fails: on top\. /);
  expect(diagnoseDatabase(new Error('on top', { cause }))?.fix).toMatch(fix);
});

test('of several addresses each is told, and where nothing is known nothing is advised', () => {
  const both = Object.assign(new AggregateError([error('connect to ::1'), error('connect to 127.0.0.1')]), {
    code: 'EPERM',
  });
  expect(databaseOutage('It fails', both).message).toBe('It fails: connect to ::1; connect to 127.0.0.1 (EPERM)');
  expect(diagnoseDatabase('no error')).toBeUndefined();
});
