// `npm run figures`: prints the size and the shape of src/, and exits with 1 if a limit is exceeded.
// The size of the package is that of the last `npm run build`.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { importCycles, readSources } from './support/source-files.mjs';

const maxFilesPerFolder = 18;
const smallFileLines = 20;
const maxSmallFiles = 8;
const maxPackageBytes = 1.3e6;

const root = fileURLToPath(new URL('..', import.meta.url));
const entries = [
  ...['index.ts', 'client.ts', 'testing.ts', 'cli/main.ts', 'emulator/index.ts', 'browser/elements.ts'],
  // The button loads these on demand.
  ...['browser/dialog/intent-dialog.ts', 'browser/flow/portable-ed25519.ts', 'browser/load-site.ts'],
];

const files = readSources().map((file) => ({ ...file, lines: file.text.trimEnd().split('\n').length }));
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const folders = new Map();
for (const file of files) {
  const folder = path.posix.join('src', path.posix.dirname(file.name));
  folders.set(folder, [...(folders.get(folder) ?? []), file]);
}

console.log(`${'folder'.padEnd(32)} files  lines  lines per file`);
const rows = [...folders].sort(([one], [other]) => (one < other ? -1 : 1));
for (const [folder, inside] of [...rows, ['all', files]]) {
  const lines = sum(inside.map((file) => file.lines));
  const counts = [inside.length, lines, Math.round(lines / inside.length)];
  console.log(folder.padEnd(31) + counts.map((count) => String(count).padStart(6)).join(' '));
}

/** Prints a figure and its items. @returns whether it is within its limit */
function holds(title, found, limit = 0) {
  console.log(`\n${title}: ${found.length} (limit ${limit})`);
  for (const line of found) console.log(`  ${line}`);
  return found.length <= limit;
}

function packageHolds() {
  if (!existsSync(path.join(root, 'dist/index.js'))) {
    console.log('\nPackage: not built. Run `npm run build` first.');
    return true;
  }
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline', '--no-update-notifier'];
  const [{ unpackedSize, entryCount }] = JSON.parse(
    execFileSync('npm', args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' }),
  );
  const [size, limit] = [unpackedSize, maxPackageBytes].map((bytes) => `${(bytes / 1e6).toFixed(2)} MB`);
  console.log(`\nPackage, unpacked: ${size} in ${entryCount} files (limit ${limit})`);
  return unpackedSize <= maxPackageBytes;
}

const small = files.filter(({ name, lines }) => lines < smallFileLines && !entries.includes(name));
const held = [
  holds(
    `Folders with more than ${maxFilesPerFolder} files`,
    rows.filter(([, inside]) => inside.length > maxFilesPerFolder).map(([folder]) => folder),
  ),
  holds(
    `Files under ${smallFileLines} lines, entries aside`,
    small.map(({ name, lines }) => `src/${name} (${lines})`),
    maxSmallFiles,
  ),
  holds(
    'Import cycles, types included',
    importCycles(files).map((cycle) => [...cycle, cycle[0]].join(' -> ')),
  ),
  packageHolds(),
];
process.exitCode = held.every(Boolean) ? 0 : 1;
