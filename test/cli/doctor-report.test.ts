import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { systemHost } from '../../src/cli/command.js';
import { type DoctorContext, type Finding, ok } from '../../src/cli/doctor/check.js';
import { checks, runChecks } from '../../src/cli/doctor/run-checks.js';
import { closestName } from '../../src/reject-unknown.js';
import { canaryOf } from '../support/runner/secret-forms.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { checkForSecrets } from '../support/runner/watch-for-leaks.js';
import { runCommand, type Setting } from './support/run-command.js';

const before = { ...process.env };

afterEach(() => {
  process.env = { ...before };
});

function doctor(env: Record<string, string>, args: readonly string[], setting: Setting = {}) {
  const kept = Object.entries(before).filter(([name]) => !/^(?:INTENT_|NODE_ENV)/.test(name));
  process.env = { ...Object.fromEntries(kept), ...env };
  return runCommand(['doctor', ...args], setting);
}

describe('the report of the doctor', () => {
  it('has a line for each finding, its fix below, the skipped checks and the totals', async () => {
    const env = { INTENT_SEQUENCER_URL: 'simulator', INTENT_DOMAIN: 'www.shop.example', INTENT_ORGIN: 'x' };
    const { code, out, error } = await doctor(env, ['--offline']);
    expect({ code, error }).toEqual({ code: 1, error: '' });
    expect(out.split('\n')).toEqual([
      'error    settings       INTENT_DOMAIN: Subdomains are not supported. Use shop.example, if you can serve the key file at its ' +
        'root. Otherwise use a domain of your own.',
      '                        -> INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>',
      'warning  settings       INTENT_ORGIN is not a setting of express-intents.',
      '                        -> Did you mean INTENT_ORIGIN? Ignore this warning if your app reads INTENT_ORGIN.',
      'skipped  consistency: INTENT_DOMAIN is not valid',
      '',
      '1 error, 1 warning.',
    ]);
  });

  it('warns about a missing INTENT_SECRET in production', async () => {
    const env = { NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'https://sequencer.example' };
    const warnings = async (more: Record<string, string>, ...flags: string[]) =>
      (await doctor({ ...env, ...more }, ['--offline', ...flags])).out.match(/^warning .*(?:\n {2}.*)?/gm)?.join('\n');
    expect(await warnings({})).toMatch(/INTENT_SECRET is not set\.[\s\S]*random characters\. Ignore this .*`secret`/);
    expect(await warnings({ INTENT_SECRET: canaryOf('cookies') })).not.toContain('INTENT_SECRET');
    expect(await warnings({ NODE_ENV: 'test' })).not.toContain('INTENT_SECRET');
    expect(await warnings({}, '--no-login')).not.toContain('INTENT_SECRET');
  });

  it('is JSON with --json', async () => {
    const { code, out } = await doctor({ INTENT_SEQUENCER_URL: 'simulator' }, ['--offline', '--json']);
    expect(code).toBe(0);
    const { findings, ...rest } = JSON.parse(out);
    expect(rest).toEqual({ ok: true, errors: 0, warnings: 0 });
    expect(findings[0]).toMatchObject({ check: 'settings', level: 'ok' });
    const local = checks.filter(({ needsNetwork }) => !needsNetwork).map(({ name }) => name);
    expect(findings.map(({ check }: { check: string }) => check)).toEqual(local);
  });

  it('changes no file in the folder of the site', async () => {
    const home = process.cwd();
    process.chdir(mkdtempSync(path.join(temporaryFolder(), 'site-')));
    try {
      mkdirSync('node_modules');
      const { code } = await doctor({ INTENT_SEQUENCER_URL: 'simulator' }, ['--offline']);
      expect({ code, files: readdirSync('.', { recursive: true }) }).toEqual({ code: 0, files: ['node_modules'] });
    } finally {
      process.chdir(home);
    }
  });

  it.each(['https://shop.example/pay', 'https://:token@shop.example'])(
    'is not printed for an invalid --url: %s',
    async (url) => {
      const { code, out, error } = await doctor({}, ['--url', url]);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(error).toContain('It must be the origin of the site');
    },
  );
});

describe('runChecks', () => {
  const host = { ...systemHost, checkTimeoutMs: 100 };
  const nothing = { env: {}, options: {}, siteUrl: undefined, isOffline: false, envFile: '' };
  type Checks = typeof checks;

  async function findingsOf(planted: Checks, env: Record<string, string> = {}): Promise<readonly Finding[]> {
    const found: Finding[] = [];
    for await (const { findings } of runChecks({ ...nothing, env }, host, planted)) found.push(...findings);
    return found;
  }
  const named = (name: string, check: (context: DoctorContext) => Promise<Finding[]>) => ({
    name,
    needsNetwork: false,
    check,
  });

  it('reports a check that throws and a check that does not end', async () => {
    const throws = named('throws', async () => {
      throw new Error('It is broken.');
    });
    const findings = await findingsOf([
      throws,
      named('hangs', () => new Promise(() => undefined)),
      named('well', async () => [ok('well')]),
    ]);
    expect(findings).toEqual([
      { level: 'error', text: 'The check failed: It is broken.', fix: expect.stringContaining('throws') },
      { level: 'error', text: 'The check did not finish within 0.1 seconds.', fix: expect.any(String) },
      ok('well'),
    ]);
  });

  it('never reports secrets of the environment', async () => {
    const [verifier, cookies, password] = [canaryOf('verifier'), canaryOf('cookies'), 'p@ss word/secret-canary'];
    const encoded = encodeURIComponent(password);
    const env = {
      INTENT_VERIFIER_SECRET: `${verifier}, ${canaryOf('second')}`,
      INTENT_SECRET: cookies,
      INTENT_DATABASE_URL: `postgres://shop:${encoded}@db/shop`,
    };
    const revealing = named('talks', async () => {
      throw new Error(`${verifier} ${canaryOf('second')} ${cookies} ${password} ${encoded}`);
    });
    const [finding] = await findingsOf([revealing], env);
    expect(finding?.text).toBe('The check failed: *** *** *** *** ***');
    checkForSecrets('the doctor', JSON.stringify(finding));
  });

  it('never reports a secret that is a JSON array', async () => {
    const secret = JSON.stringify(Array.from({ length: 64 }, (_, n) => n));
    const revealing = named('talks', async () => {
      throw new Error(secret);
    });
    const [finding] = await findingsOf([revealing], { INTENT_VERIFIER_SECRET: secret });
    expect(finding?.text).toBe('The check failed: ***');
  });
});

it('closestName() returns the name with the fewest changes', () => {
  const names = ['INTENT_DATABASE_URL', 'INTENT_DOMAIN', 'INTENT_ORIGIN'];
  expect(closestName('INTENT_DATABSE_URL', names)).toBe('INTENT_DATABASE_URL');
  expect(closestName('INTENT_ORGIN', names)).toBe('INTENT_ORIGIN');
  expect(closestName('INTENTDOMAIN', names)).toBe('INTENT_DOMAIN');
  expect(closestName('ttl', ['ttlMs', 'confirm'])).toBe('ttlMs');
});
