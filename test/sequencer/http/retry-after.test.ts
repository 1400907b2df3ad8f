import { parseRetryAfter } from '../../../src/sequencer/http/http-call.js';

// The example of RFC 9110 section 5.6.7, and its time in milliseconds by `date -u +%s`.
const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const atMs = 784_111_777_000;

it.each<[unknown, number | undefined]>([
  ['0', 0],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['3600', 3_600_000],
  ['3601', 3_600_000],
  ['9999999999', 3_600_000],
  ['99999999999', undefined],
  [date, 2_500],
  ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
  ['Sun, 06 Nov 2094 08:49:37 GMT', 3_600_000],
  ['Sun, 99 Nov 1994 08:49:37 GMT', undefined],
  ['1994-11-06T08:49:37Z', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
  [['1', '2'], undefined],
])('Retry-After %p is %p ms (RFC 9110 section 10.2.3)', (header, expected) => {
  expect(parseRetryAfter(header, atMs - 2_500)).toBe(expected);
});
