import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/**
 * A separate project with the packed package and its peer dependencies, which are links.
 *
 * @param {boolean} isForWine Wine does not show links as links, so packages do not find their own dependencies next to their
 * real path. Links all packages instead.
 */
export async function installPacked(isForWine = false) {
  const folder = mkdtempSync(join(tmpdir(), 'express-intents-nodes-'));
  // npm is a batch file on Windows, which needs a shell.
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    shell: process.platform === 'win32',
  });
  const installed = join(folder, 'node_modules/express-intents');
  mkdirSync(installed, { recursive: true });
  // Relative paths, because GNU tar on Windows reads C: as the name of a host.
  const [{ filename }] = JSON.parse(stdout);
  await run('tar', ['-xzf', filename, '-C', 'node_modules/express-intents', '--strip-components=1'], { cwd: folder });
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const needed = [...Object.keys(dependencies), 'express', 'pg', '@electric-sql/pglite'];
  const all = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'));
  for (const name of isForWine ? all : needed) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction');
  }
  for (const name of ['smoke.mjs', 'mistakes.mjs', 'mistakes']) {
    cpSync(new URL(`./${name}`, import.meta.url), join(folder, name), { recursive: true });
  }
  return folder;
}
