// `npm run figures`: prints the shape of src/, and the sizes of the package after the last `npm run build`.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { readSources } from './support/source-files.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const row = (name, ...counts) =>
  console.log(name.padEnd(36) + counts.map((count) => String(count).padStart(9)).join(' '));

const files = readSources().map((file) => ({ ...file, lines: file.text.trimEnd().split('\n').length }));
const folders = new Map();
for (const file of files) {
  const folder = path.posix.join('src', path.posix.dirname(file.name));
  folders.set(folder, [...(folders.get(folder) ?? []), file]);
}
row('folder', 'files', 'lines', 'average');
const sorted = [...folders].sort(([one], [other]) => (one < other ? -1 : 1));
for (const [folder, inside] of [...sorted, ['all', files]]) {
  const lines = sum(inside.map((file) => file.lines));
  row(folder, inside.length, lines, Math.round(lines / inside.length));
}

if (!existsSync(path.join(root, 'dist/index.js'))) {
  console.log('\nThe package is not built. Run `npm run build` first.');
  process.exit();
}

console.log();
row('file for browsers', 'bytes', 'gzip', 'brotli');
const browser = path.join(root, 'dist/browser');
for (const name of readdirSync(browser).filter((name) => name.endsWith('.js'))) {
  const text = readFileSync(path.join(browser, name));
  row(name, text.length, gzipSync(text, { level: 9 }).length, brotliCompressSync(text).length);
}

console.log();
const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline', '--no-update-notifier'];
const [packed] = JSON.parse(
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' }),
);
row('package', 'files', 'bytes');
for (const kind of ['code and pages', 'source maps', 'declarations', 'docs and the rest']) {
  const inside = packed.files.filter((file) => kindOf(file) === kind);
  row(kind, inside.length, sum(inside.map(({ size }) => size)));
}
row('all, unpacked', packed.entryCount, packed.unpackedSize);
row('all, packed', '', packed.size);

function kindOf({ path: name }) {
  if (name.endsWith('.map')) return 'source maps';
  if (name.endsWith('.d.ts') && name.startsWith('dist/')) return 'declarations';
  return name.startsWith('dist/') ? 'code and pages' : 'docs and the rest';
}
