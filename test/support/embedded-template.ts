import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';

const require = createRequire(import.meta.url);
const packageFile = path.join(path.dirname(require.resolve('@electric-sql/pglite')), '../package.json');
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
const cache = fileURLToPath(new URL('../../node_modules/.cache/express-intents', import.meta.url));

/**
 * Puts the data of an empty database into a folder. To make it takes two seconds, so that is done once for all test files
 * and runs.
 */
export async function copyEmptyData(to: string): Promise<void> {
  const template = path.join(cache, `pglite-${version}`);
  if (!existsSync(template)) {
    mkdirSync(cache, { recursive: true });
    const own = `${template}.${process.pid}.${Date.now()}`;
    await (await PGlite.create({ dataDir: own })).close();
    try {
      renameSync(own, template);
    } catch {
      // Another test file was first.
      rmSync(own, { recursive: true, force: true });
    }
  }
  cpSync(template, to, { recursive: true });
}
