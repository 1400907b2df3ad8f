import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions } from '../../src/config/config-options.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { countingTransport } from '../support/transports/counting-transport.js';

type Connections = ConfigOptions['connections'];

const base = { transport: countingTransport(), login: false };
const limitsOf = (connections: Connections) => parseConfig({ ...base, connections }, {}).connections;

test('connections has defaults that can be set one by one', () => {
  expect(limitsOf(undefined)).toEqual({ perBrowser: 3, perAddress: 20, perProcess: 5_000 });
  expect(limitsOf({ perAddress: 1 })).toEqual({ perBrowser: 3, perAddress: 1, perProcess: 5_000 });
  expect(limitsOf({ perBrowser: undefined as unknown as number })).toMatchObject({ perBrowser: 3 });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', true])(
  'connections rejects the limit %p',
  (value) => {
    expect(problemsOf(() => limitsOf({ perProcess: value as number }))).toEqual([
      {
        setting: 'connections',
        problem: 'perProcess is not a whole number over 0.',
        fix: 'connections: { perProcess: 5000 }',
      },
    ]);
  },
);

test('connections rejects an unknown limit, because a typo would be ignored', () => {
  expect(problemsOf(() => limitsOf({ perbrowser: 1 } as Connections))).toEqual([
    {
      setting: 'connections',
      problem: 'There is no limit perbrowser.',
      fix: 'Known: perBrowser, perAddress, perProcess.',
    },
  ]);
});

test.each([null, 5, 'many'])('intentRouter() rejects connections: %p', (connections) => {
  expect(problemsOf(() => intentRouter({ ...base, connections: connections as unknown as Connections }))).toEqual([
    { setting: 'connections', problem: 'It has the wrong type.', fix: 'Make it an object.' },
  ]);
});
