import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

interface BuildScript {
  readonly maxGzipBytes: Readonly<Record<string, number>>;
  checkSize(name: string, text: string | Uint8Array, limit?: number): number;
}

const script = (await import(new URL('../../src/browser/bundle.mjs', import.meta.url).href)) as BuildScript;
const built = (name: string): string =>
  readFileSync(new URL(`../../src/browser/built/${name}`, import.meta.url), 'utf8');

/** The body as it is sent, compressed. */
const download = (url: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const req = get(url, { headers: { 'accept-encoding': 'gzip' } }, async (res) => {
      resolve(Buffer.concat(await res.toArray()));
    });
    req.on('error', reject);
  });

describe('elements.js', () => {
  test('and intent-dialog.js have their limits as built', () => {
    expect(script.maxGzipBytes).toEqual({ 'elements.js': 8_704, 'intent-dialog.js': 10_240 });
    for (const [name, limit] of Object.entries(script.maxGzipBytes)) {
      expect(script.checkSize(name, built(name))).toBeLessThanOrEqual(limit);
    }
  });

  test('has at most 10,240 bytes with gzip as served with the largest configuration, which does not compress', async () => {
    const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
    const options = {
      sequencerUrl: 'https://sequencer.example',
      transport: countingTransport(),
      routes: { intent: '/checkout/create', status: '/checkout/status', events: '/checkout/events', session: '/me' },
      returnOrigins: ['https://shop.example.com', `https://${random(60).toLowerCase().replace(/[-_]/g, 'x')}.example`],
    };
    const walletUrl = `https://wallet.example/${random(1_320)}`;
    const { origin } = await startSite({ ...options, walletUrl });
    const body = await download(`${origin}/intent/v1/elements.js`);
    expect(gunzipSync(body).toString()).toContain(walletUrl);
    expect(body.length).toBeLessThanOrEqual(10_240);
    const longer = startSite({ ...options, walletUrl: `${walletUrl}${random(200)}` });
    await expect(longer).rejects.toThrow(/returnOrigins: .* bytes\. The limit is 1800, /);
  });

  test('larger than the limit fails the build', () => {
    const noise = randomBytes(10_240).toString('base64');
    expect(() => script.checkSize('elements.js', randomBytes(8_704))).toThrow('The limit is 8704.');
    expect(() => script.checkSize('a.js', noise, 100)).toThrow(/a\.js has \d+ bytes with gzip\. The limit is 100\./);
  });

  test('can be imported without a page', async () => {
    const { elements } = await import(new URL('../../src/browser/built/elements.js', import.meta.url).href);
    expect(Object.keys(elements)).toEqual(['create']);
  });
});

test('the built files run no text as code, set no markup and read no cookie', () => {
  for (const name of ['elements.js', 'intent-dialog.js', 'portable-ed25519.js']) {
    expect(built(name)).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.cookie/,
    );
  }
});
