// `npm run test:nginx`: runs the tests that need nginx, and those of the fleet behind nginx instead of the balancer of test/fleet.
import { spawnSync } from 'node:child_process';

if (spawnSync('nginx', ['-v']).error) {
  console.error('npm run test:nginx needs nginx: apt-get install nginx-light');
  process.exit(1);
}
const tests = ['**/*.nginx.test.ts', '**/fleet/fleet.full.test.ts', '**/fleet/rolling-restart.full.test.ts'];
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
// Every argument after --testMatch would be one more pattern.
const { status } = spawnSync(process.execPath, [...node, ...process.argv.slice(2), '--testMatch', ...tests], {
  env: { ...process.env, BALANCER: 'nginx' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
