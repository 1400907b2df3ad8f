import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
const committed = path.join(project, 'src/wire/generated');
const run = promisify(execFile);

/** The files that differ between two folders. */
async function differences(one: string, other: string): Promise<string[]> {
  const names = new Set([...(await readdir(one)), ...(await readdir(other))]);
  const read = (folder: string, name: string): Promise<Buffer | undefined> =>
    readFile(path.join(folder, name)).catch(() => undefined);
  const differing: string[] = [];
  for (const name of [...names].sort()) {
    const [left, right] = await Promise.all([read(one, name), read(other, name)]);
    if (!left || !right || !left.equals(right)) differing.push(name);
  }
  return differing;
}

test('the committed codecs equal those generated from the .proto files, byte for byte', async () => {
  const fresh = path.join(temporaryFolder(), 'fresh');
  await run(process.execPath, [path.join(project, 'proto/generate.mjs'), fresh]);
  expect(await differences(fresh, committed)).toEqual([]);
  // The order of `readdir` depends on the file system.
  expect((await readdir(committed)).sort()).toEqual(['intents.d.ts', 'intents.js', 'simulator.d.ts', 'simulator.js']);
});
