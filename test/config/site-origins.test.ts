import { parseConfig } from '../../src/config/config.js';
import { ConfigError } from '../../src/errors.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const base = { transport: countingTransport(), login: false };

function problemsOf(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('returnOrigins is empty by default and has the configured origins', () => {
  expect(parseConfig(base, {}).returnOrigins).toEqual([]);
  const returnOrigins = ['https://www.shop.example', 'http://localhost:3000'];
  expect(parseConfig({ ...base, returnOrigins }, {}).returnOrigins).toEqual(returnOrigins);
});

test.each([
  'https://shop.example/',
  'https://shop.example/path',
  'https://*.shop.example',
  'shop.example',
  'javascript:alert(1)',
  'null',
  '*',
  '',
])('returnOrigins rejects the origin %j', (origin) => {
  const fix = "returnOrigins: ['https://www.example.com'] (lower case, no default port, path or trailing slash)";
  expect(problemsOf(() => parseConfig({ ...base, returnOrigins: ['https://a.example', origin] }, {}))).toEqual([
    {
      setting: 'returnOrigins',
      problem: `${JSON.stringify(origin)}: It is not an origin in the form that browsers send.`,
      fix,
    },
  ]);
});

test('returnOrigins rejects an http origin in production', () => {
  const options = { ...base, returnOrigins: ['http://shop.example'] };
  expect(problemsOf(() => parseConfig(options, { NODE_ENV: 'production' }))).toMatchObject([
    { problem: '"http://shop.example": It must be https when NODE_ENV=production.' },
  ]);
});

test.each(['https://a.example', [1], null, {}])('intentRouter() rejects returnOrigins: %j', (returnOrigins) => {
  expect(problemsOf(() => intentRouter({ ...base, returnOrigins: returnOrigins as never }))).toEqual([
    {
      setting: 'returnOrigins',
      problem: 'It must be a list of strings.',
      fix: 'Correct its value, or remove the option.',
    },
  ]);
});
