import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { manifest, pack, root } from './consumer-project.js';

// Three tools check the package, without network access.

const folder = temporaryFolder();
let tarball: string;

beforeAll(async () => {
  tarball = join(folder, (await pack('--pack-destination', folder)).filename);
});

/** Runs a command of an installed package. */
function run(command: string, ...args: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'node_modules', command), ...args], { cwd: root }, (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), printed: stdout });
    });
  });
}

it('publint finds no fault in the tarball', async () => {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages } = await publint({ strict: true, pack: { tarball: buffer } });
  expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([]);
});

// Its TypeScript is older than `require` of an ES module, which Node has had since 20.19: that rule would be wrong. That
// such a `require` works, and compiles, is shown by consumer.test.ts. What came before `exports` is not supported.
const attwFlags = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-definitely-typed'];

it('attw finds correct types by import, by require and for bundlers', async () => {
  const { code, printed } = await run('@arethetypeswrong/cli/dist/index.js', tarball, ...attwFlags, '--no-color');
  expect([code, printed]).toEqual([0, expect.stringContaining('"express-intents/testing"')]);
});

it('knip finds no unused file, export or dependency', async () => {
  const { code, printed } = await run('knip/bin/knip.js', '--no-progress', '--no-config-hints');
  expect([code, printed.trim()]).toEqual([0, '']);
});
