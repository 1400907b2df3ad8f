import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseConfig } from '../../src/config/config.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { root } from '../package/consumer-project.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';

// The files of docs/examples/nginx, without nginx. The `*.nginx.test.ts` run them behind a real one.

const read = (name: string): string => readFileSync(join(root, 'docs/examples/nginx', name), 'utf8');

test('site.env and the secrets that it names are a complete configuration for production', () => {
  const secrets = { INTENT_VERIFIER_SECRET: generateKeyPair().secret, INTENT_SECRET: canaryOf('cookies') };
  const named = Object.entries(secrets).filter(([name]) => read('site.env').includes(`# ${name}=`));
  const env = { ...parseEnv(read('site.env')), ...Object.fromEntries(named) };
  expect(parseConfig({}, env)).toMatchObject({ production: true, warnings: [], notices: [] });
});

test.each([
  ['nginx', {}],
  ['other', { NGINX_COMMAND: 'other -c /etc/other.conf' }],
])('restart.sh reloads %s, also in a shell with the variable NGINX, which nginx itself reads', (command, more) => {
  const folder = mkdtempSync(join(temporaryFolder(), 'restart-'));
  const [log, site] = [join(folder, 'log'), join(folder, 'site.conf')];
  for (const name of ['nginx', 'other', 'curl', 'sleep']) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} "$@" >> ${log}\n`, { mode: 0o755 });
  }
  writeFileSync(site, read('site.conf'));
  const env = { PATH: `${folder}:${process.env.PATH}`, NGINX: '6;7;', SITE: site, ...more };
  execFileSync('sh', [join(root, 'docs/examples/nginx/restart.sh'), '3001', 'true'], { env, stdio: 'pipe' });
  expect(readFileSync(log, 'utf8').match(new RegExp(`^${command} .*-s reload$`, 'gm'))).toHaveLength(2);
});

test('site.conf does not forward the health route of server.js', () => {
  const [, path = 'no health route'] = /health: '([^']+)'/.exec(read('server.js')) ?? [];
  expect(read('site.conf')).toMatch(new RegExp(`location = ${path} \\{\\s+return 404;\\s+\\}`));
});
