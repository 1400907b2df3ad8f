import { parseVerifierDomain } from '../../src/keys/verifier-domain.js';
import { runToEnd } from '../support/run-to-end.js';
import { thrownCode } from '../wire/thrown-code.js';

describe('the domain of the verifier key file (interface 4.6, 5.3)', () => {
  test.each([
    'example.com',
    'example.co.uk',
    'shop.example',
    '1password.com',
    'xn--bcher-kva.example',
    'example.xn--p1ai',
    `${'a'.repeat(63)}.com`,
  ])('accepts %s unchanged', (name) => {
    expect(parseVerifierDomain(name)).toBe(name);
  });

  test.each([
    ['www.example.co.uk', 'example.co.uk'],
    ['my-shop.vercel.app', 'vercel.app'],
  ])('%s: the error names the registrable domain, and the way out on a shared one', (name, domain) => {
    expect(() => parseVerifierDomain(name)).toThrow(
      `Subdomains are not supported. Use ${domain}, if you can serve the key file at its root. Otherwise use a domain of your own.`,
    );
  });

  test.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a space in front', ' example.com'],
    ['a NUL', 'example.com\0'],
    ['https', 'https://example.com'],
    ['a port', 'example.com:443'],
    ['a path', 'example.com/'],
    ['a query', 'example.com?x'],
    ['a fragment', 'example.com#x'],
    ['a user', 'user@example.com'],
    ['a trailing dot', 'example.com.'],
    ['a leading dot', '.example.com'],
    ['upper case', 'Example.com'],
    ['letters beyond ASCII', 'bücher.example'],
    ['similar Cyrillic letters', 'exаmple.com'],
    ['a star', '*.com'],
    ['a hyphen in front', '-example.com'],
    ['a label of 64 letters', `${'a'.repeat(64)}.com`],
    ['300 characters in labels of their size', `${`${'a'.repeat(59)}.`.repeat(5)}`.slice(0, 296).concat('.com')],
    ['an IPv4 address', '192.0.2.1'],
    ['an IPv4 address in parts', '0x7f.1'],
    ['an IPv6 address', '2001:db8::1'],
    ['a numeric top-level domain', 'example.123'],
    ['localhost', 'localhost'],
    ['a subdomain', 'www.example.com'],
    ['a subdomain under a suffix of two labels', 'www.example.co.uk'],
    ['a public suffix', 'com'],
    ['a public suffix of two labels', 'co.uk'],
  ])('rejects %s', (_, name) => {
    expect(thrownCode(() => parseVerifierDomain(name))).toBe('invalid_domain');
  });

  test.each([undefined, null, 5, {}, ['example.com']])('rejects %p, which is not a string', (value) => {
    expect(thrownCode(() => parseVerifierDomain(value as unknown as string))).toBe('invalid_domain');
  });

  test('rejects very long text at linear cost', () => {
    runToEnd(() => {
      for (const name of ['a'.repeat(2_000_000), 'a.'.repeat(1_000_000), `${'-'.repeat(2_000_000)}.com`]) {
        expect(thrownCode(() => parseVerifierDomain(name))).toBe('invalid_domain');
      }
    });
  });
});
