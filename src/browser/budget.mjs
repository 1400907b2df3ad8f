// Checks the last step of `npm run build`: what a visitor downloads stays within the budget of docs/button.md.
import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const folder = new URL('../../dist/browser/', import.meta.url);
const gzipBytes = (name) => gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length;
const brotliBytes = (name) => brotliCompressSync(readFileSync(new URL(name, folder))).length;

const languages = readdirSync(folder).filter((name) => /^[a-z]{2}\.js$/.test(name));
const dearestLanguage = Math.max(...languages.map(brotliBytes));

/** What is measured, its bytes, and the most that it may have. A server adds its configuration to elements.js. */
const budget = [
  ['elements.js with gzip', gzipBytes('elements.js'), 12_000],
  ['intent-dialog.js with gzip', gzipBytes('intent-dialog.js'), 14_000],
  // Chromium derives the public key itself, so it does not load portable-ed25519.js.
  [
    'one payment in Chromium with brotli',
    brotliBytes('elements.js') + brotliBytes('intent-dialog.js') + dearestLanguage,
    25_000,
  ],
];

const exceeded = budget.filter(([, bytes, limit]) => bytes > limit);
if (exceeded.length > 0) {
  throw new Error(
    exceeded.map(([what, bytes, limit]) => `${what}: ${bytes} bytes. The budget is ${limit}.`).join('\n'),
  );
}
