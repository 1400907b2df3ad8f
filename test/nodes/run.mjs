// `npm run test:nodes`: a payment, a login and ten mistakes with the packed package on Node 20, 22, 24 and 26, which npm installs.
// `npm run test:nodes -- --suite 22 test/http` runs the tests on one Node, optionally only those of a path.
// `npm run test:nodes -- --windows` runs the payment and the login with the Windows build of Node in Wine.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { installPacked } from './install-packed.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { suite: { type: 'boolean' }, windows: { type: 'boolean' } },
});
const requested = positionals.filter((word) => /^\d+$/.test(word));
const versions = requested.length > 0 ? requested : ['20', '22', '24', '26'];
const tests = positionals.filter((word) => !requested.includes(word));

/** The errors of npm without a registry. */
const unreachable = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/;

/** The path of a Node of this version, or undefined if npm cannot install it. */
async function nodeOf(version) {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath;
  const flags = ['--yes', '--fetch-retries=1', '--fetch-timeout=30000', '-p', `node@${version}`];
  try {
    // From another folder: here npm would use our own packages.
    const { stdout } = await run('npx', [...flags, '-c', 'node -p process.execPath'], {
      cwd: tmpdir(),
      timeout: 300_000,
    });
    return stdout.trim().split('\n').at(-1);
  } catch (error) {
    if (!unreachable.test(`${error.stderr}`)) throw error;
    return undefined;
  }
}

async function exitCodeOf(node, args, cwd) {
  // First in the PATH, for programs that tests start.
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:INTENT_|NODE_|npm_)/.test(name));
  const child = spawn(node, args, { cwd, stdio: 'inherit', env: { ...Object.fromEntries(kept), PATH: path } });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

async function trySmoke(node) {
  const folder = await installPacked();
  try {
    return (await exitCodeOf(node, ['smoke.mjs'], folder)) || (await exitCodeOf(node, ['mistakes.mjs'], folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const trySuite = (node) => exitCodeOf(node, [...jest, ...tests], root);

if (values.windows) {
  const { runInWine } = await import('./wine.mjs');
  process.exit(await runInWine());
}

for (const version of versions) {
  const node = await nodeOf(version);
  if (node === undefined) {
    console.error(`Node ${version} was not tested: npm could not download it, because the registry cannot be reached.`);
    process.exitCode = 1;
  } else if ((await (values.suite ? trySuite(node) : trySmoke(node))) !== 0) {
    console.error(`Node ${version} has failed.`);
    process.exitCode = 1;
  }
}
