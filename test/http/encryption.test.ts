import { createDecipheriv, hkdfSync } from 'node:crypto';
import type { Request, Response } from 'express';
import { openClientSecret, sealClientSecret } from '../../src/http/encryption.js';
import { type BrowserIdentity, ensureBrowser, hostCookie } from '../../src/http/request/browser-cookie.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const otherId = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';
const clientSecret = '3d6fhr4x9mnVcpiJrBcXkTDZ5wN';

/** The browser with this cookie. Only the headers of the request are read. */
function browserWith(token: string): BrowserIdentity {
  const req = { headers: { cookie: `intent=${token}` } } as Request;
  return ensureBrowser(hostCookie('intent', false), req, {} as Response);
}
const browser = browserWith('a'.repeat(43));

test('openClientSecret decrypts a secret for the browser and the intent that it was sealed for', async () => {
  expect(await openClientSecret(await sealClientSecret(clientSecret, id, browser), id, browser)).toBe(clientSecret);
});

test('sealClientSecret makes a JWE with AES-256-GCM, under a key derived only from the cookie (RFC 7516, RFC 5869)', async () => {
  const [header = '', key, iv = '', ciphertext = '', tag = ''] = (
    await sealClientSecret(clientSecret, id, browser)
  ).split('.');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'dir', enc: 'A256GCM' });
  expect(key).toBe('');
  const derived = Buffer.from(hkdfSync('sha256', 'a'.repeat(43), '', `express-intents client secret v1 of ${id}`, 32));
  const opening = createDecipheriv('aes-256-gcm', derived, Buffer.from(iv, 'base64url'));
  opening.setAAD(Buffer.from(header)).setAuthTag(Buffer.from(tag, 'base64url'));
  const opened = Buffer.concat([opening.update(Buffer.from(ciphertext, 'base64url')), opening.final()]);
  expect(opened.toString()).toBe(clientSecret);
});

test('openClientSecret rejects another browser, another intent and a changed text', async () => {
  const sealed = await sealClientSecret(clientSecret, id, browser);
  const other = browserWith(`${'a'.repeat(42)}b`);
  const parts = sealed.split('.');
  const changed = [...parts.slice(0, 3), `A${parts[3]?.slice(1)}`, parts[4]].join('.');
  const none = [`${Buffer.from('{"alg":"none"}').toString('base64url')}`, '', '', parts[3], ''].join('.');
  const attempts = [
    openClientSecret(sealed, id, other),
    openClientSecret(sealed, otherId, browser),
    openClientSecret(changed === sealed ? `${sealed}A` : changed, id, browser),
    openClientSecret(none, id, browser),
    openClientSecret('', id, browser),
  ];
  for (const attempt of await Promise.allSettled(attempts)) {
    expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'internal_error' } });
    const { message } = (attempt as PromiseRejectedResult).reason;
    expect(message).toMatch(/cannot be decrypted\. The ledger was changed: create the intent again/);
    expect(message).not.toContain('INTENT_');
  }
});

test('sealClientSecret returns another text on each call', async () => {
  const sealed = await Promise.all(Array.from({ length: 50 }, () => sealClientSecret(clientSecret, id, browser)));
  expect(new Set(sealed).size).toBe(50);
});
