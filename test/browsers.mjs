// `npm run test:browsers`: the flows of the button in Chromium, Firefox and WebKit.
import { spawnSync } from 'node:child_process';
import { missingPackages } from './browser/engines/installed.mjs';

const missing = missingPackages();
if (missing.length > 0) {
  console.error(`npm run test:browsers needs Firefox and WebKit: apt-get install ${missing.join(' ')}`);
  process.exit(1);
}
const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const { status } = spawnSync(
  process.execPath,
  [...node, ...process.argv.slice(2), '--testMatch', '**/*.browsers.test.ts'],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
