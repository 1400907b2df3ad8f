import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folders: string[] = [];

/** Creates an empty folder, which is deleted after the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'intents-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
