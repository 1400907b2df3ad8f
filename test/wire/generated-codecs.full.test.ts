import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

async function change(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
}

describe('the committed codecs', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'generated-codecs-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('equal those generated from the .proto files, byte for byte', async () => {
    const fresh = path.join(folder, 'fresh');
    await run(process.execPath, [path.join(project, 'proto/generate.mjs'), fresh]);
    expect(await differences(fresh, committed)).toEqual([]);
    expect(await readdir(committed)).toEqual(['emulator.d.ts', 'emulator.js', 'intents.d.ts', 'intents.js']);
  });

  test('are compared by a check that finds a missing, an extra and a changed file', async () => {
    const copy = path.join(folder, 'copy');
    await cp(committed, copy, { recursive: true });
    expect(await differences(copy, committed)).toEqual([]);
    await rm(path.join(copy, 'emulator.js'));
    await writeFile(path.join(copy, 'extra.js'), '');
    await change(path.join(copy, 'intents.d.ts'), 'namespace intents', 'namespace  intents');
    expect(await differences(copy, committed)).toEqual(['emulator.js', 'extra.js', 'intents.d.ts']);
  });
});
