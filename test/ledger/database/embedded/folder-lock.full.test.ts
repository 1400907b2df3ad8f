import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { jest } from '@jest/globals';
import { lockFolder } from '../../../../src/ledger/database/embedded/folder-lock.js';
import { eventually } from '../../../support/eventually.js';
import { compile, start } from '../../../support/runner/child-program.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';

const refused = { code: 'ledger_locked' };
const program = new URL('./lock-folder-program.ts', import.meta.url);

/** A foreign socket in the folder, such as that of a process that starts at the same time. */
async function listenAs(folder: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  await new Promise<void>((resolve) => server.listen(path.join(folder, 'theirs'), resolve));
  renameSync(path.join(folder, 'theirs'), path.join(folder, name));
  return server;
}

/** On a busy machine all callers may time out before they agree: then none has the lock, and all are repeated. */
async function untilHeld<Answer>(ask: () => Promise<Answer[]>, isHeld: (answer: Answer) => boolean): Promise<Answer[]> {
  for (;;) {
    const answers = await ask();
    if (answers.some(isHeld)) return answers;
  }
}

const close = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

describe('the lock of a folder, in one process,', () => {
  test('is held once, and free again after its release; no file is left', async () => {
    const folder = temporaryFolder();
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toMatchObject(refused);
    await lock.release();
    await lock.release();
    const second = await lockFolder(folder);
    await second.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('concerns only its folder, and leaves other files alone', async () => {
    const folder = temporaryFolder();
    for (const name of ['lock.txt', 'lock.1', 'new.', 'lockfile', 'data'])
      writeFileSync(path.join(folder, name), 'mine');
    const locks = [await lockFolder(folder), await lockFolder(temporaryFolder())];
    for (const lock of locks) await lock.release();
    expect(readdirSync(folder).sort()).toEqual(['data', 'lock.1', 'lock.txt', 'lockfile', 'new.']);
  });
});

describe('the socket of another process', () => {
  test.each(['lock.000000000000', 'lock.ffffffffffff'])(
    'that listens as %s keeps the lock; no other file is left',
    async (name) => {
      const folder = temporaryFolder();
      const other = await listenAs(folder, name);
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
      expect(readdirSync(folder)).toEqual([name]);
      await close(other);
    },
  );

  test.each(['lock.000000000000', 'lock.ffffffffffff'])(
    'that is about to close, as %s, is waited for',
    async (name) => {
      const folder = temporaryFolder();
      const other = await listenAs(folder, name);
      // No time passes until the lock is held.
      const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      const checked = once(other, 'connection');
      const locking = lockFolder(folder);
      await checked;
      await close(other);
      const lock = await locking;
      now.mockRestore();
      expect(readdirSync(folder)).toHaveLength(1);
      await lock.release();
    },
  );

  test('that is dead is removed', async () => {
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

describe('the path of a folder', () => {
  test('that is too long is shortened relative to the working directory', async () => {
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

  test('that accepts no socket is rejected', async () => {
    // A folder of the kernel, which rejects every new file.
    await expect(lockFolder('/proc/self')).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/cannot be locked: no Unix socket can be created in it \(E[A-Z]+\)/),
    });
  });
});

describe('the lock of a folder, among processes,', () => {
  test('goes to one of many that start together, survives SIGSTOP, and is free after kill -9', async () => {
    const folder = temporaryFolder();
    const file = await compile(program);
    for (let round = 0; round < 3; round += 1) {
      const ask = async () => {
        const processes = Array.from({ length: 6 }, () => start(file, [folder]));
        return Promise.all(processes.map(async (child) => ({ child, state: await child.next() })));
      };
      const answers = await untilHeld(ask, ({ state }) => state === 'held');
      const states = answers.map(({ state }) => state);
      expect(states.toSorted()).toEqual(['held', ...Array.from({ length: 5 }, () => 'ledger_locked')]);
      const holder = answers[states.indexOf('held')]?.child;
      holder?.process.kill('SIGSTOP');
      await expect(lockFolder(folder)).rejects.toMatchObject(refused);
      await holder?.kill();
    }
    const lock = await lockFolder(folder);
    expect(readdirSync(folder)).toHaveLength(1);
    await lock.release();
  });

  test('does not keep its process alive', async () => {
    const folder = temporaryFolder();
    const holder = start(await compile(program), [folder]);
    expect(await holder.next()).toBe('held');
    holder.process.stdin?.end();
    await holder.ended;
    await (await lockFolder(folder)).release();
  });

  test('is held by a worker of a cluster itself, even stopped while the primary is dead', async () => {
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
    // The end of a process that is not a child cannot be awaited.
    await eventually(async () => (await lockFolder(folder)).release());
  });
});
