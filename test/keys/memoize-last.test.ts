import type { IntentErrorCode } from '../../src/errors.js';
import { parseAccount } from '../../src/keys/base58.js';
import { parseVerifierDomain } from '../../src/keys/verifier-domain.js';
import { parseVerifyingKey } from '../../src/keys/verifying-key.js';

test.each<[IntentErrorCode, (text: string) => unknown]>([
  ['invalid_account', parseAccount],
  ['invalid_key', parseVerifyingKey],
  ['invalid_domain', parseVerifierDomain],
])('memoizeLast parses undefined when it is the first input of an untyped caller: %s', (code, parse) => {
  expect(() => parse(undefined as unknown as string)).toThrow(expect.objectContaining({ code }));
});
