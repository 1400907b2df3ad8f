import { createRequire } from 'node:module';
import { memoizeLast } from '../async/memoize-last.js';
import { IntentError } from '../errors.js';

const require = createRequire(import.meta.url);

// ASCII labels; a last label that begins with a digit would be read as an IPv4 address by URL parsers.
const hostName = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/;

/**
 * Parses the domain that hosts the verifier key file: a bare registrable name, in lower case and ASCII, such as
 * `example.com` or `example.co.uk`. The file must be at the root of the domain, and subdomains are not supported
 * (interface section 4.6), so a scheme, port, path, address, `localhost` or subdomain is refused.
 * @throws {IntentError} `invalid_domain`
 */
export const parseVerifierDomain = memoizeLast((text): string => {
  // The list of suffixes is long. It is loaded by the first site with logins, not with the package.
  const { parse }: typeof import('tldts') = require('tldts');
  const { domain, hostname, isIp } = parse(text, { allowPrivateDomains: false });
  if (hostname !== text || isIp || !hostName.test(text)) {
    throw new IntentError(
      'invalid_domain',
      'Expected a name alone, in lower case and ASCII: no scheme, port, path or address.',
    );
  }
  if (domain === null) throw new IntentError('invalid_domain', 'Expected a name that can be registered.');
  if (domain !== text) throw new IntentError('invalid_domain', `Subdomains are not supported: expected ${domain}.`);
  return text;
});
