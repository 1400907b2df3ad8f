import { createRequire } from 'node:module';
import { IntentError } from '../errors.js';
import { memoizeLast } from './memoize-last.js';

const require = createRequire(import.meta.url);

// ASCII labels. URL parsers read a name whose last label is a number as an IPv4 address.
const hostName = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/;

/**
 * Parses the domain that hosts the verifier key file: a bare registrable name in lower-case ASCII, such as `example.com` or
 * `example.co.uk`. The file must be at the root of the domain, and subdomains are not supported (interface section 4.6).
 * @throws {IntentError} `invalid_domain`
 */
export const parseVerifierDomain = memoizeLast((text): string => {
  // Loaded on demand, because the list of suffixes is long.
  const { parse }: typeof import('tldts') = require('tldts');
  const { domain, hostname, isIp } = parse(text, { allowPrivateDomains: false });
  if (hostname !== text || isIp || !hostName.test(text)) {
    throw new IntentError(
      'invalid_domain',
      'Expected a bare domain name in lower-case ASCII, without scheme, port or path, such as example.com.',
    );
  }
  if (domain === null)
    throw new IntentError('invalid_domain', 'Expected a registrable domain name, such as example.com.');
  if (domain !== text) {
    const message =
      `Subdomains are not supported. Use ${domain}, if you can serve the key file at its root. ` +
      'Otherwise use a domain of your own.';
    throw new IntentError('invalid_domain', message);
  }
  return text;
});
