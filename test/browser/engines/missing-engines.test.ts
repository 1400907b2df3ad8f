import { spawnSync } from 'node:child_process';

test('without Firefox and WebKit npm run test:browsers names their packages in one line and exits with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, ['test/browsers.mjs'], {
    encoding: 'utf8',
    env: { ...process.env, PATH: '' },
  });
  expect(stderr).toBe(
    'npm run test:browsers needs Firefox and WebKit: apt-get install firefox-esr webkit2gtk-driver xvfb\n',
  );
  expect(status).toBe(1);
});
