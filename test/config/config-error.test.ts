import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

const built = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** The output of Node when the app fails at startup. */
function printedBy(name: string, text: string): string {
  const file = path.join(temporaryFolder(), name);
  writeFileSync(file, text);
  const { status, stderr } = spawnSync(process.execPath, [file], { env: {}, encoding: 'utf8' });
  expect(status).toBe(1);
  return stderr.replaceAll(path.dirname(file), '<the site>');
}

const start = '\n\nintentRouter({ login: false });\n';
const url = JSON.stringify(built);

describe.each([
  ['app.mjs', `import { intentRouter } from ${url};${start}`],
  ['app.cjs', `const { intentRouter } = require(${url});${start}`],
])('%s without a required setting', (name, text) => {
  it('prints only the problem, its fix, the frames of the site and the line of Node', () => {
    const [message, frames, version, ...more] = printedBy(name, text).split('\n\n');
    expect(message).toMatch(
      /^ConfigError: express-intents cannot start:\n {2}- INTENT_SEQUENCER_URL: It is not set\.\n {4}INTENT_/,
    );
    expect(frames?.split('\n')[0]).toMatch(
      /^ {4}at (?:Object\.<anonymous> \()?(?:file:\/\/)?<the site>\/\w+\.[cm]js:3:\d+\)?$/,
    );
    expect(version).toMatch(/^Node\.js v\S+\n$/);
    expect(more).toEqual([]);
  });
});
