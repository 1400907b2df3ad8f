import { cpSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { madeOnce } from '../runner/made-once.js';

const require = createRequire(import.meta.url);
const packageFile = path.join(path.dirname(require.resolve('@electric-sql/pglite')), '../package.json');
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
const cache = fileURLToPath(new URL('../../../node_modules/.cache/express-intents', import.meta.url));

/**
 * Copies the data of an empty database into a folder. Creating it takes two seconds, so all test files and runs share one.
 */
export async function copyEmptyData(to: string): Promise<void> {
  const template = await madeOnce(path.join(cache, `pglite-${version}`), async (dataDir) => {
    await (await PGlite.create({ dataDir })).close();
  });
  cpSync(template, to, { recursive: true });
}
