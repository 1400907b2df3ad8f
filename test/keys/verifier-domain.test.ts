import { parseVerifierDomain } from '../../src/keys/verifier-domain.js';
import { runToEnd } from '../support/run-to-end.js';
import { thrownCode } from '../wire/thrown-code.js';

describe('the domain of the verifier key file (interface 4.6, 5.3)', () => {
  test.each([
    'example.com',
    'example.co.uk',
    'shop.example',
    'a.co',
    '1password.com',
    '123.com',
    'my-shop.com',
    'xn--bcher-kva.example',
    'xn--80ak6aa92e.com',
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
    ['a space behind', 'example.com '],
    ['a space inside', 'exam ple.com'],
    ['a line break behind', 'example.com\n'],
    ['a NUL', 'example.com\0'],
    ['a NUL before another name', 'example.com\0.evil.com'],
    ['https', 'https://example.com'],
    ['http', 'http://example.com'],
    ['no scheme but its slashes', '//example.com'],
    ['a port', 'example.com:443'],
    ['a path', 'example.com/'],
    ['a longer path', 'example.com/shop'],
    ['a back slash', 'example.com\\shop'],
    ['a query', 'example.com?x'],
    ['a fragment', 'example.com#x'],
    ['a user', 'user@example.com'],
    ['a user and a password', 'example.com:x@evil.com'],
    ['a trailing dot', 'example.com.'],
    ['a leading dot', '.example.com'],
    ['two dots', 'example..com'],
    ['upper case', 'Example.com'],
    ['upper case throughout', 'EXAMPLE.COM'],
    ['an upper-case xn--', 'XN--bcher-kva.example'],
    ['letters beyond ASCII', 'bücher.example'],
    ['similar Cyrillic letters', 'exаmple.com'],
    ['full-width letters', 'ｅxample.com'],
    ['an ideographic full stop', 'example。com'],
    ['a Kelvin sign', 'boo\u212a.com'],
    ['a soft hyphen', 'exam\u00adple.com'],
    ['an underscore', 'my_shop.com'],
    ['a star', '*.com'],
    ['a per cent sign', 'example%2ecom'],
    ['a hyphen in front', '-example.com'],
    ['a hyphen behind', 'example-.com'],
    ['a label of 64 letters', `${'a'.repeat(64)}.com`],
    ['300 characters', `${'a.'.repeat(148)}com`],
    ['300 characters in labels of their size', `${`${'a'.repeat(59)}.`.repeat(5)}`.slice(0, 296).concat('.com')],
    ['an IPv4 address', '192.0.2.1'],
    ['an IPv4 address in one number', '3221225985'],
    ['an IPv4 address in hex', '0xc0000201'],
    ['an IPv4 address in parts', '0x7f.1'],
    ['an IPv4 address with a trailing dot', '127.0.0.1.'],
    ['an IPv6 address', '2001:db8::1'],
    ['an IPv6 address in brackets', '[2001:db8::1]'],
    ['the loopback of IPv6', '[::1]'],
    ['a numeric top-level domain', 'example.123'],
    ['a top-level domain that begins with a digit', 'example.1a'],
    ['localhost', 'localhost'],
    ['a subdomain of localhost by its name', 'www.shop.localhost'],
    ['a subdomain', 'www.example.com'],
    ['a subdomain under a suffix of two labels', 'www.example.co.uk'],
    ['a subdomain of a subdomain', 'a.b.c.example.com'],
    ['a public suffix', 'com'],
    ['a public suffix of two labels', 'co.uk'],
    ['a key file', 'https://example.com/.well-known/service-payments.json'],
    ['__proto__', '__proto__'],
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
