import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions } from '../../src/config/config-options.js';
import { intentRouter } from '../../src/router/intent-router.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { countingTransport } from '../support/transports/counting-transport.js';

type RateLimits = ConfigOptions['rateLimits'];

const base = { transport: countingTransport(), login: false };
const limitsOf = (rateLimits: unknown) => parseConfig({ ...base, rateLimits: rateLimits as RateLimits }, {}).rateLimits;

const store = { increment: () => ({ totalHits: 1, resetTime: undefined }), decrement: () => {}, resetKey: () => {} };

test('rateLimits has defaults that can be set one by one', () => {
  const defaults = { intent: 120, session: 120, status: 3_000, webhook: 600, windowMs: 60_000, store: undefined };
  expect(limitsOf(undefined)).toEqual(defaults);
  expect(limitsOf({ status: 5, intent: undefined })).toEqual({ ...defaults, status: 5 });
  expect(limitsOf({ windowMs: 1_000, store })).toEqual({ ...defaults, windowMs: 1_000, store });
  expect(limitsOf(false)).toBeUndefined();
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', true])('rateLimits rejects the limit %p', (value) => {
  expect(problemsOf(() => limitsOf({ session: value }))).toEqual([
    {
      setting: 'rateLimits',
      problem: 'session must be a whole number over 0.',
      fix: 'rateLimits: { session: 120 }, or rateLimits: false to disable the limits',
    },
  ]);
});

test.each([0, -1, 1.5, 2 ** 31, '60000'])('rateLimits rejects windowMs: %p', (windowMs) => {
  expect(problemsOf(() => limitsOf({ windowMs }))).toMatchObject([{ setting: 'rateLimits.windowMs' }]);
});

test.each([null, {}, { increment: () => 1 }, 'redis', () => store])('rateLimits rejects the store %p', (wrong) => {
  expect(problemsOf(() => limitsOf({ store: wrong }))).toMatchObject([
    { setting: 'rateLimits', problem: 'store lacks a method of a store of express-rate-limit.' },
  ]);
});

test('rateLimits rejects an unknown limit, because a typo would be ignored', () => {
  expect(problemsOf(() => limitsOf({ intents: 1 }))).toEqual([
    {
      setting: 'rateLimits.intents',
      problem: 'Unknown option "intents".',
      fix: 'Did you mean "intent"? Valid names: intent, session, status, webhook, windowMs, store.',
    },
  ]);
});

test.each([null, 5, 'many', true])('intentRouter() rejects rateLimits: %p', (rateLimits) => {
  expect(problemsOf(() => intentRouter({ ...base, rateLimits: rateLimits as unknown as RateLimits }))).toEqual([
    {
      setting: 'rateLimits',
      problem: 'It must be an object, or false.',
      fix: 'Correct its value, or remove the option.',
    },
  ]);
});
