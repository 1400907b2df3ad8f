import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isFolderLocked, lockFolder } from '../../../../src/ledger/database/embedded/folder-lock.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';

// The code of Windows on any system: outside of Windows the name of a pipe is a socket in the working directory.

const { platform } = process;
const before = process.cwd();
let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  process.chdir(temporaryFolder());
  Object.defineProperty(process, 'platform', { value: 'win32' });
});
afterEach(() => {
  Object.defineProperty(process, 'platform', { value: platform });
  process.chdir(before);
});

const refused = { code: 'ledger_locked' };
const pipes = (): string[] => readdirSync('.');

describe('the lock of a folder on Windows', () => {
  test('is held once, and free again after its release; no file and no pipe is left', async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toMatchObject(refused);
    expect(await isFolderLocked(folder)).toBe(true);
    await lock.release();
    expect(await isFolderLocked(folder)).toBe(false);
    await (await lockFolder(folder)).release();
    expect(readdirSync(folder)).toEqual([]);
    expect(pipes()).toEqual([]);
  });

  test.each(['lock.000000000000', 'lock.ffffffffffff', 'new.000000000001'])(
    'replaces the file %s of a process that has ended',
    async (name) => {
      writeFileSync(path.join(folder, name), '');
      const lock = await lockFolder(folder);
      expect(readdirSync(folder)).toEqual([path.basename(lock.file)]);
      await lock.release();
    },
  );

  test('goes to at most one of many concurrent callers', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
    const locks = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(locks.length).toBeLessThanOrEqual(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toMatchObject(refused);
    for (const lock of locks) await lock.release();
  });

  test('that accepts no file is rejected, and its pipe is closed', async () => {
    await expect(lockFolder(path.join(folder, 'missing'))).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/cannot be locked: no file can be created in it \(ENOENT\)/),
    });
    expect(pipes()).toEqual([]);
  });
});
