import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parseConfig } from '../../src/config/config.js';
import { generateKeyPair } from '../../src/keys/verifier-key.js';
import { root } from '../package/consumer-project.js';
import { canaryOf } from '../support/runner/secret-forms.js';

// The files of docs/examples/nginx, without nginx. The `*.nginx.test.ts` run them behind a real one.

const read = (name: string): string => readFileSync(join(root, 'docs/examples/nginx', name), 'utf8');

test('site.env and the secrets that it names are a complete configuration for production', () => {
  const secrets = { INTENT_VERIFIER_SECRET: generateKeyPair().secret, INTENT_SECRET: canaryOf('cookies') };
  const named = Object.entries(secrets).filter(([name]) => read('site.env').includes(`# ${name}=`));
  const env = { ...parseEnv(read('site.env')), ...Object.fromEntries(named) };
  expect(parseConfig({}, env)).toMatchObject({ production: true, warnings: [], notices: [] });
});
