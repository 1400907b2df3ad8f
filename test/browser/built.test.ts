import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const built = (name: string): string => readFileSync(join(root, 'dist/browser', name), 'utf8');

/** The body as it is sent, compressed. */
const download = (url: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const req = get(url, { headers: { 'accept-encoding': 'gzip' } }, async (res) => {
      resolve(Buffer.concat(await res.toArray()));
    });
    req.on('error', reject);
  });

describe('elements.js', () => {
  test('has at most 12,000 bytes with gzip as served with the largest configuration, which does not compress', async () => {
    const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
    const options = {
      sequencer: { url: 'https://sequencer.example', transport: countingTransport() },
      routes: { intent: '/checkout/create', status: '/checkout/status', events: '/checkout/events', session: '/me' },
      button: {
        returnOrigins: [
          'https://shop.example.com',
          `https://${random(60).toLowerCase().replace(/[-_]/g, 'x')}.example`,
        ],
      },
    };
    const walletUrl = `https://wallet.example/${random(170)}`;
    const { origin } = await startSite(options, { button: { walletUrl } });
    const body = await download(`${origin}/intent/v1/elements.js`);
    expect(gunzipSync(body).toString()).toContain(walletUrl);
    expect(body.length).toBeLessThanOrEqual(12_000);
    const longer = startSite(options, { button: { walletUrl: `${walletUrl}${random(200)}` } });
    await expect(longer).rejects.toThrow(/button\.returnOrigins: .* bytes\. The limit is 670, /);
  });

  test('the dialog has at most 14,000 bytes with gzip with the longest texts, which do not compress', async () => {
    const paid = randomBytes(3_300).toString('base64url');
    const { origin } = await startSite(
      { sequencer: { url: 'https://sequencer.example', transport: countingTransport() } },
      { button: { texts: { en: { paid } } } },
    );
    const body = await download(`${origin}/intent/v1/intent-dialog.js`);
    expect(gunzipSync(body).toString()).toContain(paid);
    expect(body.length).toBeLessThanOrEqual(14_000);
  });

  test('can be imported without a page', async () => {
    const { elements } = await import(join(root, 'dist/browser/elements.js'));
    expect(Object.keys(elements)).toEqual(['create']);
  });
});

test('the build fails if a file of the button exceeds its budget', async () => {
  const copy = temporaryFolder();
  cpSync(join(root, 'src/browser/budget.mjs'), join(copy, 'src/browser/budget.mjs'), { recursive: true });
  cpSync(join(root, 'dist/browser'), join(copy, 'dist/browser'), { recursive: true });
  const check = (): Promise<string> =>
    new Promise((resolve) => {
      execFile(process.execPath, [join(copy, 'src/browser/budget.mjs')], (_error, _stdout, stderr) => resolve(stderr));
    });
  expect(await check()).toBe('');
  writeFileSync(join(copy, 'dist/browser/elements.js'), randomBytes(12_001));
  expect(await check()).toMatch(/elements\.js with gzip: \d+ bytes\. The budget is 12000\./);
});

test('the built files run no text as code, set no markup and read no cookie', () => {
  for (const name of ['elements.js', 'intent-dialog.js', 'de.js', 'portable-ed25519.js']) {
    expect(built(name)).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.cookie\b/,
    );
  }
});
