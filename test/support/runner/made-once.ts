import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * A folder that several test files share. The first one creates it under another name and renames it, so the others see a
 * complete folder or none.
 */
export async function madeOnce(folder: string, make: (folder: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}.`);
  await make(own);
  try {
    renameSync(own, folder);
  } catch {
    // Another test file was first.
    rmSync(own, { recursive: true, force: true });
  }
  return folder;
}
