import { constants } from 'node:fs';
import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPackage, requirePackage } from '../async/optional-package.js';
import { openEmbedded } from '../ledger/database/embedded/embedded.js';

/** An empty ledger for a test. */
export interface TemporaryLedger {
  /** The option `databaseUrl`: a folder. */
  readonly url: string;
  /** Removes the folder. Close the router first. */
  remove(): Promise<void>;
}

/**
 * Creates an empty ledger in a temporary folder. Needs `@electric-sql/pglite`.
 *
 * Creating a database takes seconds, copying one does not. If the working directory has a `node_modules` folder, the first call
 * stores an empty database in `node_modules/.cache`, and later calls copy it.
 * @throws {ConfigError} if PGlite is not installed
 */
export async function temporaryLedger(): Promise<TemporaryLedger> {
  requirePackage('@electric-sql/pglite');
  const folder = await mkdtemp(path.join(tmpdir(), 'express-intents-ledger-'));
  const template = await templateFolder();
  if (template) await cp(template, path.join(folder, 'data'), { recursive: true, mode: constants.COPYFILE_FICLONE });
  return Object.freeze({
    url: folder,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  });
}

/** An empty database to copy. Undefined if it cannot be stored; then the ledger creates its own. */
async function templateFolder(): Promise<string | undefined> {
  const modules = path.resolve('node_modules');
  const cache = path.join(modules, '.cache', 'express-intents');
  const template = path.join(cache, `empty-ledger-${await pgliteVersion()}`);
  if (await exists(template)) return template;
  if (!(await exists(modules))) return undefined;
  try {
    await mkdir(cache, { recursive: true });
    await makeTemplate(await mkdtemp(`${template}-`), template);
  } catch {
    // The folder is not writable, or another test file was first.
  }
  return (await exists(template)) ? template : undefined;
}

async function makeTemplate(own: string, template: string): Promise<void> {
  try {
    await (await openEmbedded({ folder: own })).close();
    await rename(path.join(own, 'data'), template);
  } finally {
    await rm(own, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A version of PGlite may be unable to open the databases of another. */
async function pgliteVersion(): Promise<string> {
  const entry = findPackage('@electric-sql/pglite') ?? '';
  const { version } = JSON.parse(await readFile(path.join(path.dirname(entry), '../package.json'), 'utf8'));
  return String(version);
}

const exists = (name: string): Promise<boolean> =>
  access(name).then(
    () => true,
    () => false,
  );
