import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type FolderLock, lockFolder } from '../../../../src/ledger/database/embedded/folder-lock.js';
import { compile, start } from '../../../support/runner/child-program.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';

// Processes take their time on a busy machine.
const refused = { code: 'ledger_locked' };
const program = new URL('./lock-folder-program.ts', import.meta.url);

/** Somebody else's socket in the folder, such as that of a process that starts at the same time. */
async function listenAs(folder: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'theirs'), resolve));
  renameSync(path.join(folder, 'theirs'), path.join(folder, name));
  return server;
}

/** On a busy machine the time of all may pass before they are agreed: then nobody has it, and they are asked again. */
async function untilHeld<Answer>(ask: () => Promise<Answer[]>, isHeld: (answer: Answer) => boolean): Promise<Answer[]> {
  for (let times = 1; ; times += 1) {
    const answers = await ask();
    if (answers.some(isHeld) || times === 5) return answers;
  }
}

const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

describe('in one process', () => {
  test('a folder is locked once, and again after it was let go; nothing is left behind', async () => {
    const folder = temporaryFolder();
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toMatchObject(refused);
    await lock.release();
    await lock.release();
    const second = await lockFolder(folder);
    await second.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('the refusal says what to do', async () => {
    const folder = temporaryFolder();
    const lock = await lockFolder(folder);
    const message = await lockFolder(folder).catch((error: Error) => error.message);
    expect(message).toContain(folder);
    expect(message).toMatch(/already open in another process.* Only one .*Several processes need Postgres/);
    await lock.release();
  });

  test('of many that ask at once one gets it, time after time', async () => {
    const folder = temporaryFolder();
    for (let round = 0; round < 3; round += 1) {
      const ask = () => Promise.allSettled(Array.from({ length: 12 }, () => lockFolder(folder)));
      const asked = await untilHeld(ask, ({ status }) => status === 'fulfilled');
      const locks = asked.flatMap((result): FolderLock[] => (result.status === 'fulfilled' ? [result.value] : []));
      expect(locks).toHaveLength(1);
      for (const result of asked) if (result.status === 'rejected') expect(result.reason).toMatchObject(refused);
      expect(readdirSync(folder)).toHaveLength(1);
      await locks[0]?.release();
    }
  });

  test('two folders have nothing to do with each other, and other files are left alone', async () => {
    const folder = temporaryFolder();
    for (const name of ['lock.txt', 'lock.1', 'new.', 'lockfile', 'data'])
      writeFileSync(path.join(folder, name), 'mine');
    const locks = [await lockFolder(folder), await lockFolder(temporaryFolder())];
    for (const lock of locks) await lock.release();
    expect(readdirSync(folder).sort()).toEqual(['data', 'lock.1', 'lock.txt', 'lockfile', 'new.']);
  });
});

describe('somebody else', () => {
  test.each(['lock.000000000000', 'lock.ffffffffffff'])(
    'who has it as %s keeps it, and nothing is left of the try',
    async (name) => {
      const folder = temporaryFolder();
      const other = await listenAs(folder, name);
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
      expect(readdirSync(folder)).toEqual([name]);
      await close(other);
    },
  );

  test.each(['lock.000000000000', 'lock.ffffffffffff'])('who is about to go, as %s, is waited for', async (name) => {
    const folder = temporaryFolder();
    const other = await listenAs(folder, name);
    const locking = lockFolder(folder);
    await wait(100);
    await close(other);
    const lock = await locking;
    expect(readdirSync(folder)).toHaveLength(1);
    await lock.release();
  });

  test('who is dead is cleared away', async () => {
    const folder = temporaryFolder();
    for (const name of ['lock.000000000000', 'lock.ffffffffffff', 'new.000000000001']) {
      await close(await listenAs(folder, name));
    }
    expect(readdirSync(folder)).toHaveLength(3);
    const lock = await lockFolder(folder);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^lock\.(?!000000000000|ffffffffffff)/)]);
    await lock.release();
  });
});

describe('the place', () => {
  test('a long path is taken from where the process is, where that is shorter', async () => {
    const before = process.cwd();
    const folder = path.join(temporaryFolder(), 'l'.repeat(60), 'o'.repeat(60));
    mkdirSync(folder, { recursive: true });
    await expect(lockFolder(folder)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/too long for a socket/),
    });
    process.chdir(path.dirname(folder));
    try {
      const lock = await lockFolder(folder);
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
      process.chdir(before);
      await lock.release();
    } finally {
      process.chdir(before);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a folder that takes no socket is refused', async () => {
    // Of the system, which says no to every new file.
    await expect(lockFolder('/proc/self')).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/cannot be locked: no Unix socket can be created in it \(E[A-Z]+\)/),
    });
  });
});

describe('between processes', () => {
  test('of many that start at once one gets it, and after kill -9 the next at once; asleep it still has it', async () => {
    const folder = temporaryFolder();
    const file = await compile(program);
    for (let round = 0; round < 3; round += 1) {
      const ask = async () => {
        const processes = Array.from({ length: 6 }, () => start(file, [folder]));
        return Promise.all(processes.map(async (child) => ({ child, said: await child.next() })));
      };
      const asked = await untilHeld(ask, ({ said }) => said === 'held');
      const said = asked.map((one) => one.said);
      expect(said.toSorted()).toEqual(['held', ...Array.from({ length: 5 }, () => 'ledger_locked')]);
      const holder = asked[said.indexOf('held')]?.child;
      holder?.process.kill('SIGSTOP');
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
      await holder?.kill();
    }
    const lock = await lockFolder(folder);
    expect(readdirSync(folder)).toHaveLength(1);
    await lock.release();
  });

  test('one that lets it go clears it away', async () => {
    const folder = temporaryFolder();
    const holder = start(await compile(program), [folder]);
    expect(await holder.next()).toBe('held');
    holder.process.stdin?.end('go\n');
    await holder.ended;
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a process does not live on for the lock alone', async () => {
    const folder = temporaryFolder();
    const holder = start(await compile(program), [folder]);
    expect(await holder.next()).toBe('held');
    holder.process.stdin?.end();
    await holder.ended;
    await (await lockFolder(folder)).release();
  });

  test('a worker of a cluster has it itself: it still has it, asleep, when the primary is dead', async () => {
    const folder = temporaryFolder();
    const primary = start(await compile(new URL('./lock-in-cluster-program.ts', import.meta.url)), [folder]);
    const worker = Number(await primary.next());
    try {
      process.kill(worker, 'SIGSTOP');
      await primary.kill();
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
    } finally {
      process.kill(worker, 'SIGKILL');
    }
    await (await lockFolder(folder)).release();
  });
});
