import type { Request } from 'express';
import { fingerprintOf, parseIdempotencyKey } from '../../../src/http/create-intent/intent-request.js';

/** The function reads only the headers. */
const parse = (header?: string) =>
  parseIdempotencyKey({ headers: { 'idempotency-key': header } } as unknown as Request);

test.each([
  // The example of the draft, section 2.1.
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['a,b;c=d', 'a,b;c=d'],
  ['"\\"quoted\\\\\\""', '"quoted\\"'],
  ['~'.repeat(255), '~'.repeat(255)],
  [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
])('parseIdempotencyKey accepts %s', (header, key) => {
  expect(parse(header)).toBe(key);
});

const wrong = [
  '',
  '""',
  'a b',
  'a, a',
  '"a',
  '"a\\b"',
  '"a";q=1',
  'ä',
  'a\tb',
  '~'.repeat(256),
  `"${'\\"'.repeat(256)}"`,
];

test.each(wrong)('parseIdempotencyKey rejects %j', (header) => {
  expect(() => parse(header)).toThrow(expect.objectContaining({ code: 'invalid_idempotency_key', status: 400 }));
});

test('parseIdempotencyKey returns undefined without the header', () => {
  expect(parse(undefined)).toBeUndefined();
});

describe('fingerprintOf', () => {
  const hex = (...request: Parameters<typeof fingerprintOf>) => Buffer.from(fingerprintOf(...request)).toString('hex');

  test('is the SHA-256 of the request with its members sorted', () => {
    // printf '%s' '{"mode":"payment","order":{"a":[1,{"c":null,"d":"e"}],"b":2}}' | sha256sum
    const known = 'fb3b5614b5d354308978394203d07de1e64b17c6279d9d971480f3a78734be34';
    expect(hex('payment', { order: { b: 2, a: [1, { d: 'e', c: null }] } })).toBe(known);
    expect(hex('payment', JSON.parse('{"order":{"a":[1,{"c":null,"d":"e"}],"b":2}}'))).toBe(known);
  });

  test('differs for every other request', () => {
    const requests: Parameters<typeof fingerprintOf>[] = [
      ['payment', {}],
      ['login', {}],
      ['payment', { order: null }],
      ['payment', { order: 1 }],
      ['payment', { amount: 1 }],
      ['payment', { order: [1, 2] }],
      ['payment', { order: { 0: 1, 1: 2 } }],
      ['payment', { order: JSON.parse('{"__proto__":1}') }],
    ];
    expect(new Set(requests.map((request) => hex(...request))).size).toBe(requests.length);
  });
});
