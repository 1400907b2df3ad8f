import request from 'supertest';
import { closeAll, created, payment, start, statusFlags } from '../fixture.js';

afterEach(closeAll);

describe('the page', () => {
  test('has no inline code and no other origins', async () => {
    const { url } = await start();
    const { text, headers } = await request(url)
      .get('/wallet')
      .expect(200)
      .expect('content-type', /text\/html/);
    const policy = headers['content-security-policy'] ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy).not.toMatch(/unsafe/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
    expect(text.replace(/\s+/g, ' ')).toContain('Simulated wallet <span>— no real money</span>');
  });

  test('serves every file it names', async () => {
    const { url } = await start();
    const { text } = await request(url).get('/wallet');
    const files = [...text.matchAll(/(?:src|href)="(\/wallet\/page\/[^"]+)"/g)].map(([, file]) => file as string);
    expect(files).toHaveLength(3);
    for (const file of [...files, '/wallet/page/api.js', '/wallet/page/return-links.js']) {
      await request(url)
        .get(file)
        .expect(200)
        .expect('content-type', /css|javascript/);
    }
    await request(url).get('/wallet/page/').expect(404);
    await request(url).get('/wallet/page/%2e%2e/server.ts').expect(404);
  });
});

describe('its JSON API', () => {
  test('scans and confirms a payment', async () => {
    const { url } = await start();
    const { id, clientSecret: code } = await created(url, payment());
    const scan = await request(url).post('/wallet/api/scan').send({ wallet: 'Ben', code }).expect(200);
    expect(scan.body).toMatchObject({ request: { id, kind: 'payment', amount: '12.50' }, submitted: false });
    const confirm = await request(url).post('/wallet/api/confirm').send({ wallet: 'Ben', code }).expect(200);
    expect(confirm.body).toMatchObject({ request: { id }, submitted: true });
    expect(await statusFlags(url, id)).toEqual([true, true, true]);
    const other = await request(url).post('/wallet/api/confirm').send({ wallet: 'Ada', code }).expect(502);
    expect(other.body).toEqual({
      error: { code: 'sequencer_error', message: 'Another wallet has already paid.' },
    });
  });

  test.each([
    ['an unknown wallet', { wallet: 'Zoe', code: 'x' }, 400, 'invalid_request'],
    ['an invalid code', { wallet: 'Ada', code: 'nonsense' }, 400, 'invalid_client_secret'],
    ['a body that is too large', { wallet: 'Ada', code: 'x'.repeat(5_000) }, 413, 'body_too_large'],
  ])('refuses %s', async (_name, command, status, code) => {
    const { url } = await start();
    const { body } = await request(url).post('/wallet/api/scan').send(command).expect(status);
    expect(body.error.code).toBe(code);
    expect(body.error.message).toEqual(expect.any(String));
  });

  test('accepts pages of its own origin and programs only', async () => {
    const { url } = await start();
    const { port } = new URL(url);
    const from = (origin: string) => request(url).get('/wallet/api/wallets').set('origin', origin);
    await from(url).expect(200);
    for (const origin of [
      'null',
      'https://evil.example',
      `https://127.0.0.1:${port}`,
      `http://localhost:${port}`,
      'http://127.0.0.1',
    ]) {
      const { body } = await from(origin).expect(403);
      expect(body.error.code).toBe('cross_site_request');
    }
  });
});
