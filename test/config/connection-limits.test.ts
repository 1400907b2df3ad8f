import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions } from '../../src/config/config-options.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { countingTransport } from '../support/transports/counting-transport.js';

type Connections = ConfigOptions['connections'];

const base = { transport: countingTransport(), login: false };
const limitsOf = (connections: Connections) => parseConfig({ ...base, connections }, {}).connections;

test('connections has defaults, and each can be set', () => {
  expect(limitsOf(undefined)).toEqual({ perBrowser: 3, perAddress: 20, perProcess: 5_000 });
  expect(limitsOf({ perAddress: 1 })).toEqual({ perBrowser: 3, perAddress: 1, perProcess: 5_000 });
  expect(limitsOf({ perBrowser: undefined as unknown as number })).toMatchObject({ perBrowser: 3 });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', true])('%p is refused as a limit', (value) => {
  expect(problemsOf(() => limitsOf({ perProcess: value as number }))).toEqual([
    {
      setting: 'connections',
      problem: 'perProcess is not a whole number over 0.',
      fix: 'connections: { perProcess: 5000 }',
    },
  ]);
});

test('an unknown limit is reported, so that a typo is not ignored', () => {
  expect(problemsOf(() => limitsOf({ perbrowser: 1 } as Connections))).toEqual([
    {
      setting: 'connections',
      problem: 'There is no limit perbrowser.',
      fix: 'Known: perBrowser, perAddress, perProcess.',
    },
  ]);
});

test.each([null, 5, 'many'])('connections: %p is refused', (connections) => {
  expect(problemsOf(() => intentRouter({ ...base, connections: connections as unknown as Connections }))).toEqual([
    { setting: 'connections', problem: 'It has the wrong type.', fix: 'Make it an object.' },
  ]);
});
