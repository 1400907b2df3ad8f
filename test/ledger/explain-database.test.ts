import { databaseOutage, diagnoseDatabase } from '../../src/ledger/database/database-fault.js';

// As pg and Node throw it; what Postgres says is by SQLSTATE.
const error = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

test.each<[string, Error, RegExp]>([
  ['no such host', error('getaddrinfo ENOTFOUND db.shop', { code: 'ENOTFOUND' }), /no such host: correct it/],
  ['no DNS', error('getaddrinfo EAI_AGAIN db.shop', { code: 'EAI_AGAIN' }), /name service of this machine/],
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
  ['no TLS there', error('The server does not support SSL connections'), /Take sslmode out/],
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
  ['another name', error('Hostname does not match', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), /as the certificate/],
  ['an old certificate', error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }), /^Renew/],
  [
    'a file that is gone',
    error('ENOENT: no such file, open /ca.pem', { code: 'ENOENT', syscall: 'open' }),
    /Put the file there/,
  ],
  ['a replica', error('cannot execute UPDATE in a read-only transaction', { code: '25006' }), /name the primary/],
  ['no connection left', error('sorry, too many clients already', { code: '53300' }), /max_connections/],
  ['a full disk', error('could not extend file', { code: '53100' }), /Make room/],
])('%s: what mends it is said, also of what is behind another error', (_name, cause, mend) => {
  expect(diagnoseDatabase(cause)?.mend).toMatch(mend);
  expect(databaseOutage('It fails', new Error('on top', { cause })).message).toMatch(/^It fails: on top\. /);
  expect(diagnoseDatabase(new Error('on top', { cause }))?.mend).toMatch(mend);
});

test('of several addresses each is told, and where nothing is known nothing is advised', () => {
  const both = Object.assign(new AggregateError([error('connect to ::1'), error('connect to 127.0.0.1')]), {
    code: 'EPERM',
  });
  expect(databaseOutage('It fails', both).message).toBe('It fails: connect to ::1; connect to 127.0.0.1 (EPERM)');
  expect(diagnoseDatabase('no error')).toBeUndefined();
});
