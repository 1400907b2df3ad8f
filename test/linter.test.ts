import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './support/runner/temporary-folder.js';

// The rules of `biome.json` apply to their folders: the linter finds each planted fault.

const root = fileURLToPath(new URL('..', import.meta.url));
/** A file, its text, and the rule that must find a fault in it, or undefined if it is correct. */
const planted: readonly (readonly [file: string, text: string, rule: string | undefined])[] = [
  ['src/http/env-1.ts', 'export const x = process.env.HOME;', 'noProcessEnv'],
  ['src/http/env-2.ts', 'export const { env } = process;', 'noJsRestrictedProperties'],
  ['src/http/env-3.ts', `export { env } from 'node:process';`, 'noRestrictedImports'],
  ['src/config/config.ts', 'export const x = process.env.HOME;', undefined],
  ['src/keys/keyRing.ts', '', 'useFilenamingConvention'],
  ['src/keys/base58.d.ts', '', undefined],
  ['src/index.ts', `export * from './keys/file.js';`, 'noReExportAll'],
  ['src/keys/one.ts', `import type { Other } from './other.js';\nexport type One = Other | 1;`, 'noImportCycles'],
  ['src/keys/other.ts', `import type { One } from './one.js';\nexport type Other = One | 2;`, 'noImportCycles'],
  ['src/browser/a.ts', `import { createHash } from 'node:crypto'; createHash('x');`, 'noNodejsModules'],
  ['src/browser/budget.mjs', `import { gzipSync } from 'node:zlib'; gzipSync('x');`, undefined],
];

/** The rules that report a fault, by file. */
async function lint(folder: string): Promise<Map<string, string[]>> {
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', '.'];
  const biome = path.join(root, 'node_modules/@biomejs/biome/bin/biome');
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, [biome, ...args], { cwd: folder }, (_error, printed) => resolve(printed));
  });
  const found = new Map<string, string[]>();
  for (const { category, location } of JSON.parse(stdout).diagnostics) {
    const file = location.path?.file ?? location.path;
    found.set(file, [...(found.get(file) ?? []), category.split('/').at(-1)]);
  }
  return found;
}

let found: Map<string, string[]>;

beforeAll(async () => {
  const folder = temporaryFolder();
  for (const name of ['biome.json', '.gitignore']) copyFileSync(path.join(root, name), path.join(folder, name));
  for (const [file, text] of planted) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  found = await lint(folder);
});

it.each(planted)('the linter reports the planted fault in %s, or nothing if it is correct', (file, _text, rule) => {
  expect(found.get(file) ?? []).toEqual(rule === undefined ? [] : expect.arrayContaining([rule]));
});
