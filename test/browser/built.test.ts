import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

interface BuildScript {
  readonly maxGzipBytes: number;
  checkSize(text: string | Uint8Array, limit?: number): number;
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
  test('has at most 10,240 bytes with gzip as built', () => {
    expect(script.maxGzipBytes).toBe(10_240);
    expect(script.checkSize(built('elements.js'))).toBeLessThanOrEqual(10_240);
  });

  test('has at most 10,240 bytes with gzip as served with a long configuration', async () => {
    const walletUrl = 'https://wallet.payments-example.com/open/intent';
    const { origin } = await startSite({
      sequencerUrl: 'https://sequencer.example',
      transport: countingTransport(),
      walletUrl,
      returnOrigins: ['https://shop.example.com', 'https://account.example.org'],
      routes: {
        intent: '/checkout/create',
        status: '/checkout/status',
        events: '/checkout/events',
        session: '/account/session',
        elements: '/pay/elements/v1',
      },
    });
    const body = await download(`${origin}/pay/elements/v1/elements.js`);
    expect(gunzipSync(body).toString()).toContain(walletUrl);
    expect(body.length).toBeLessThanOrEqual(10_240);
  });

  test('larger than the limit fails the build', () => {
    const noise = randomBytes(10_240).toString('base64');
    expect(() => script.checkSize(randomBytes(10_240))).toThrow('The limit is 10240.');
    expect(() => script.checkSize(noise, 100)).toThrow(/has \d+ bytes with gzip\. The limit is 100\./);
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
