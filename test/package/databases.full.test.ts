import { ConsumerProject } from './consumer-project.js';

// Tests that depend on the installed databases.

let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
  project.write(
    'start.mjs',
    `import { createRequire } from 'node:module';
    import { intentRouter } from 'express-intents';
    const router = intentRouter({ login: false, sequencer: { url: 'https://sequencer.example' } });
    const outcome = await router.ready().then(() => 'ready', (error) => error.code);
    await router.close();
    const required = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify({ outcome, pg: required.some((path) => /node_modules.pg./.test(path)) }));`,
  );
});
afterAll(() => project.remove());

const folder = { INTENT_DATABASE_URL: './ledger' };
const postgres = { INTENT_DATABASE_URL: 'postgres://shop:hunter2@127.0.0.1:1/shop' };

describe('a missing package', () => {
  it.each([
    ['pg', postgres],
    ['@electric-sql/pglite', folder],
  ])('%s is reported by the router at startup, with the command to install it', async (name, env) => {
    project.unlink(name);
    const { code, stderr } = await project.node(['start.mjs'], env);
    project.link(name);
    expect(code).toBe(1);
    expect(stderr).toContain('ConfigError: express-intents cannot start:');
    expect(stderr).toContain(`npm install ${name}`);
    expect(stderr).not.toContain('hunter2');
  });

  it.each([
    ['pg', postgres],
    ['@electric-sql/pglite', folder],
  ])('%s is reported by the doctor, with the command to install it', async (name, env) => {
    project.unlink(name);
    const main = 'node_modules/express-intents/dist/cli.js';
    const { stdout } = await project.node([main, 'doctor', '--no-login', '--json'], env);
    project.link(name);
    const findings: { readonly check: string }[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ check }) => check === 'database')).toEqual([
      {
        ...{ check: 'database', level: 'error', fix: `npm install ${name}` },
        text: expect.stringMatching(`^${name}: .* requires this package\\. It is not installed\\.$`),
      },
    ]);
  });

  it('is not required if the other database is used', async () => {
    project.unlink('pg');
    expect(JSON.parse((await project.node(['start.mjs'], folder)).stdout)).toEqual({ outcome: 'ready', pg: false });
    project.link('pg');
    project.unlink('@electric-sql/pglite');
    const { stdout } = await project.node(['start.mjs'], postgres);
    project.link('@electric-sql/pglite');
    expect(JSON.parse(stdout)).toEqual({ outcome: 'ledger_unavailable', pg: true });
  });

  it('is not required without a ledger', async () => {
    for (const name of ['pg', '@electric-sql/pglite']) project.unlink(name);
    expect(JSON.parse((await project.node(['start.mjs'])).stdout)).toEqual({ outcome: 'ready', pg: false });
    for (const name of ['pg', '@electric-sql/pglite']) project.link(name);
  });
});
