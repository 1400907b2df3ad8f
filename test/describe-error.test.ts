import { describeError } from '../src/describe-error.js';
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

  test('returns the errors of all addresses', () => {
    const each = ['connect ECONNREFUSED ::1:443', 'connect ECONNREFUSED 127.0.0.1:443'].map((text) => new Error(text));
    const cause = Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' });
    expect(describeError(new SequencerError('sequencer_unreachable', 'No way.', { cause }))).toMatchObject({
      cause: 'connect ECONNREFUSED ::1:443; connect ECONNREFUSED 127.0.0.1:443',
      causeCode: 'ECONNREFUSED',
    });
  });

  test('ends for an error that is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(describeError(error)).toMatchObject({ message: 'round' });
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
      '    at async fulfil (file:///site/orders.js:12:5)',
      '    at onPaid (file:///site/app.js:3:4)',
    ].join('\n');
    expect(describeError(error).at).toBe('fulfil (file:///site/orders.js:12:5)');
  });

  test('returns a text for an error that cannot be read', () => {
    const error = Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no');
      },
    });
    expect(describeError(error)).toEqual({ message: 'Unknown error: it cannot be read.' });
  });
});
