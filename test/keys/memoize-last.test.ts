import { memoizeLast } from '../../src/keys/memoize-last.js';
import type { IntentErrorCode } from '../../src/errors.js';
import { parseAccount, parseVerifierKey } from '../../src/keys/base58.js';
import { parseVerifierDomain } from '../../src/keys/verifier-domain.js';

test('memoizeLast parses a repeated input once, and any other input again', () => {
  const parsed: string[] = [];
  const parse = memoizeLast((text) => {
    parsed.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'a', 'b', 'a'].map(parse)).toEqual(['A', 'A', 'B', 'A']);
  expect(parsed).toEqual(['a', 'b', 'a']);
});

test('memoizeLast throws again for an invalid input, and keeps its last result', () => {
  let calls = 0;
  const parse = memoizeLast((text) => {
    calls += 1;
    if (text === 'bad') throw new Error('bad');
    return text;
  });
  parse('good');
  for (let time = 0; time < 2; time += 1) expect(() => parse('bad')).toThrow('bad');
  expect(parse('good')).toBe('good');
  expect(calls).toBe(3);
});

test.each<[IntentErrorCode, (text: string) => unknown]>([
  ['invalid_account', parseAccount],
  ['invalid_key', parseVerifierKey],
  ['invalid_domain', parseVerifierDomain],
])('memoizeLast parses undefined when it is the first input of an untyped caller: %s', (code, parse) => {
  expect(() => parse(undefined as unknown as string)).toThrow(expect.objectContaining({ code }));
});
