import { describeError, errorText } from '../src/describe-error.js';
import { IntentError, SequencerError } from '../src/errors.js';

describe('describeError', () => {
  test('returns the deepest cause', () => {
    const system = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:443'), { code: 'ECONNREFUSED' });
    const first = new SequencerError('sequencer_unreachable', 'No way.', { cause: system });
    const last = new SequencerError('sequencer_unreachable', 'No way. Tried 3 times.', { cause: first });
    expect(describeError(last)).toEqual({
      at: expect.stringContaining('describe-error.test.ts:'),
      message: 'No way. Tried 3 times.',
      code: 'sequencer_unreachable',
      cause: 'connect ECONNREFUSED 10.0.0.7:443',
      causeCode: 'ECONNREFUSED',
    });
  });

  test('returns a text that was thrown, and only the type of other values', () => {
    expect(describeError('a text')).toEqual({ message: 'a text' });
    expect(describeError({ password: 'x' })).toEqual({ error: 'object' });
    expect(describeError(undefined)).toEqual({ error: 'undefined' });
  });

  test('returns the SQLSTATE and the names of a database error, and not its detail, which has values', () => {
    const fault = Object.assign(new Error('duplicate key'), {
      ...{ severity: 'ERROR', routine: '_bt_check_unique', code: '23505', detail: 'Key (email)=(a@b.example) exists.' },
      ...{ constraint: 'users_email_key', table: 'users', column: undefined, params: ['a@b.example'] },
    });
    const details = describeError(new IntentError('internal_error', 'Rolled back.', { cause: fault }));
    expect(details).toMatchObject({ sqlState: '23505', constraint: 'users_email_key', table: 'users' });
    expect(JSON.stringify(details)).not.toContain('b.example');
  });

  test('names the first line of the site, not those of packages and of Node', () => {
    const error = new Error('no');
    error.stack = [
      'Error: no',
      '    at parse (/site/node_modules/pg/index.js:1:2)',
      '    at wasm://wasm/022a9842:wasm-function[10951]:0x52a924',
      '    at new Promise (<anonymous>)',
      '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      '    at async fulfill (file:///site/orders.js:12:5)',
      '    at onPaid (file:///site/app.js:3:4)',
    ].join('\n');
    expect(describeError(error).at).toBe('fulfill (file:///site/orders.js:12:5)');
  });
});

/** As the error of an ORM for a failed query: message and stack contain the values. */
class QueryError extends Error {
  readonly query: string;
  readonly params: readonly unknown[];

  constructor(query: string, params: readonly unknown[], cause?: unknown) {
    super(`Failed query: ${query}\nparams: ${params.join(',')}`, { cause });
    this.query = query;
    this.params = params;
  }
}

describe('an error of an ORM', () => {
  const address = 'ada.lovelace@example.com';
  const insert = (cause: unknown) =>
    new QueryError('insert into mails (address) values ($1)', [address, `\n    at ${address}:1:2`], cause);
  const duplicate = () =>
    Object.assign(new Error('duplicate key value violates unique constraint "mails_address_key"'), {
      ...{ name: 'error', severity: 'ERROR', code: '23505', detail: `Key (address)=(${address}) already exists.` },
      ...{ constraint: 'mails_address_key', table: 'mails' },
    });
  const names = { sqlState: '23505', constraint: 'mails_address_key', table: 'mails' };
  const { message } = duplicate();
  const text = `error: ${message} (sqlState 23505, constraint mails_address_key, table mails)`;

  function everything(error: unknown): string {
    return JSON.stringify([describeError(error), errorText(error)]);
  }

  test('is described by the error of the driver, without the values of the query', () => {
    const error = insert(duplicate());
    expect(describeError(error)).toMatchObject({
      ...names,
      message,
      at: expect.stringContaining('describe-error.test'),
    });
    expect(describeError(error).stack).toMatch(/^error: duplicate key [^\n]+\n {4}at /);
    expect(errorText(error)).toBe(text);
    expect(everything(error)).not.toContain('ada');
  });

  test('that the site wraps again is described by the driver', () => {
    const inner = insert(duplicate());
    const error = new Error(`Not fulfilled: ${inner.message}`, { cause: inner });
    expect(describeError(error)).toMatchObject({ ...names, message });
    expect(errorText(error)).toBe(text);
    expect(everything(error)).not.toContain('ada');
  });

  test('below an error of this package keeps the message of the package, and adds the reason', () => {
    const error = new IntentError('internal_error', 'Rolled back.', { cause: insert(duplicate()) });
    expect(describeError(error)).toMatchObject({ ...names, message: 'Rolled back.', cause: message });
    expect(errorText(error)).toBe(`IntentError: Rolled back. ${text.replace('error: ', '')}`);
    expect(everything(error)).not.toContain('ada');
  });

  test('around an error of this package or of the network is described by that error', () => {
    const refused = new IntentError('ledger_unavailable', 'Connection lost.');
    expect(describeError(insert(refused))).toMatchObject({ message: 'Connection lost.', code: 'ledger_unavailable' });
    expect(errorText(insert(new Error('connect ECONNREFUSED')))).toBe('Error: connect ECONNREFUSED');
    expect(everything(insert(refused)) + everything(insert(new Error('no')))).not.toContain('ada');
  });
});
