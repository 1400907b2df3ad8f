import type { IntentErrorCode } from '../../src/errors.js';
import { parseAccount, parseVerifierKey } from '../../src/keys/base58.js';
import { parseVerifierDomain } from '../../src/keys/verifier-domain.js';

test.each<[IntentErrorCode, (text: string) => unknown]>([
  ['invalid_account', parseAccount],
  ['invalid_key', parseVerifierKey],
  ['invalid_domain', parseVerifierDomain],
])('memoizeLast parses undefined when it is the first input of an untyped caller: %s', (code, parse) => {
  expect(() => parse(undefined as unknown as string)).toThrow(expect.objectContaining({ code }));
});
