import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';

/** Runs .ci/run on a machine without Firefox and WebKit. Its programs only record how they are called. */
function runCi(programs: Readonly<Record<string, string>>): { status: number | null; stderr: string; calls: string[] } {
  const folder = temporaryFolder();
  const log = path.join(folder, 'calls');
  for (const name of ['bash', 'dirname'])
    symlinkSync(existsSync(`/usr/bin/${name}`) ? `/usr/bin/${name}` : `/bin/${name}`, path.join(folder, name));
  symlinkSync(process.execPath, path.join(folder, 'node'));
  for (const [name, body] of Object.entries({
    'apt-get': ':',
    npm: ':',
    sudo: 'shift; "$@"',
    id: 'echo 0',
    ...programs,
  })) {
    const file = path.join(folder, name);
    const record = name === 'id' ? '' : `echo "${name} $*" >>'${log}'\n`;
    writeFileSync(file, `#!${folder}/bash\n${record}${body}\n`);
    chmodSync(file, 0o755);
  }
  const { status, stderr } = spawnSync(path.resolve('.ci', 'run'), { encoding: 'utf8', env: { PATH: folder } });
  return { status, stderr, calls: readFileSync(log, 'utf8').trim().split('\n') };
}

const packages = 'firefox-esr webkit2gtk-driver xvfb';
const apt = ['apt-get update', `apt-get install -y --no-install-recommends ${packages}`];
const tests = ['npm test', 'npm run -s test:full', 'npm run -s test:browsers'];

test('.ci/run installs the missing browsers, and then runs all tests', () => {
  expect(runCi({})).toEqual({ status: 0, stderr: '', calls: [...apt, ...tests] });
});

test('.ci/run installs with sudo if the user is not root', () => {
  const { status, calls } = runCi({ id: 'echo 1000' });
  expect(calls).toEqual([...apt.flatMap((call) => [`sudo -n ${call}`, call]), ...tests]);
  expect(status).toBe(0);
});

test('.ci/run names the packages and runs no test if they cannot be installed', () => {
  const { status, stderr, calls } = runCi({ 'apt-get': '[ "$1" = update ] || exit 100' });
  expect(stderr).toBe(
    `The browsers of npm run test:browsers cannot be installed. Install these packages: ${packages}\n`,
  );
  expect([status, calls]).toEqual([1, apt]);
});

test('.ci/run stops at the first command that fails', () => {
  const { status, calls } = runCi({ npm: 'exit 3' });
  expect([status, calls]).toEqual([3, [...apt, 'npm test']]);
});
