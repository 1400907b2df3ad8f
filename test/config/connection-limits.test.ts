import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions } from '../../src/config/config-options.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { countingTransport } from '../support/transports/counting-transport.js';

type ConnectionLimits = ConfigOptions['connectionLimits'];

const base = { transport: countingTransport(), login: false };
const limitsOf = (connectionLimits: ConnectionLimits) =>
  parseConfig({ ...base, connectionLimits }, {}).connectionLimits;

test('connectionLimits has defaults that can be set one by one', () => {
  expect(limitsOf(undefined)).toEqual({ perBrowser: 3, perAddress: 20, perProcess: 5_000 });
  expect(limitsOf({ perAddress: 1 })).toEqual({ perBrowser: 3, perAddress: 1, perProcess: 5_000 });
  expect(limitsOf({ perBrowser: undefined as unknown as number })).toMatchObject({ perBrowser: 3 });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', true])(
  'connectionLimits rejects the limit %p',
  (value) => {
    expect(problemsOf(() => limitsOf({ perProcess: value as number }))).toEqual([
      {
        setting: 'connectionLimits',
        problem: 'perProcess must be a whole number over 0.',
        fix: 'connectionLimits: { perProcess: 5000 }',
      },
    ]);
  },
);

test('connectionLimits rejects an unknown limit, because a typo would be ignored', () => {
  expect(problemsOf(() => limitsOf({ perbrowser: 1 } as ConnectionLimits))).toEqual([
    {
      setting: 'connectionLimits.perbrowser',
      problem: 'Unknown option "perbrowser".',
      fix: 'Did you mean "perBrowser"? Valid names: perBrowser, perAddress, perProcess.',
    },
  ]);
});

test.each([null, 5, 'many'])('intentRouter() rejects connectionLimits: %p', (connectionLimits) => {
  expect(
    problemsOf(() => intentRouter({ ...base, connectionLimits: connectionLimits as unknown as ConnectionLimits })),
  ).toEqual([
    { setting: 'connectionLimits', problem: 'It must be an object.', fix: 'Correct its value, or remove the option.' },
  ]);
});
