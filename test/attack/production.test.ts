import { execFile } from 'node:child_process';
import request from 'supertest';
import { startSimulator } from '../../src/simulator/index.js';
import { compile } from '../support/runner/child-program.js';
import { startSite } from '../support/sites/site.js';
import { inProduction } from './support/in-production.js';

/** Runs node in production. Returns its output and exit code. */
function node(...args: string[]): Promise<{ code: number; printed: string }> {
  const env = { ...process.env, NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'simulator' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: 200_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, printed: `${stdout}\n${stderr}` });
    });
  });
}

describe('development mode in production', () => {
  test.each(['simulator', ' simulator', 'http://127.0.0.1:4747'])(
    'is rejected for the sequencer %j at startup',
    async (url) => {
      const start = inProduction(() => startSite({ sequencer: { url } }));
      await expect(start).rejects.toMatchObject({ code: 'invalid_configuration' });
      await expect(start).rejects.toThrow('- sequencer.url:');
    },
  );

  test('provides no defaults: a missing key and domain are reported', async () => {
    const nothing = {
      login: { verifierSecret: '', domain: '' },
      destination: '',
      sequencer: { url: 'https://service.example' },
    };
    const start = inProduction(() => startSite(nothing));
    for (const missing of ['login.verifierSecret', 'login.domain']) {
      await expect(start).rejects.toThrow(`- ${missing}:`);
    }
  });

  test('is rejected for the simulator, started by code, by the CLI or by a router', async () => {
    await expect(inProduction(() => startSimulator())).rejects.toMatchObject({ code: 'invalid_configuration' });
    const programs = ['../../src/cli/main.ts', './support/start-router.ts'].map(
      (path) => new URL(path, import.meta.url),
    );
    const [main = '', router = ''] = await Promise.all(programs.map((program) => compile(program)));
    const [command, site] = await Promise.all([node(main, 'simulator', '--port', '0'), node(router)]);
    expect(command.code).not.toBe(0);
    expect(command.printed).toMatch(/NODE_ENV=production/);
    expect(site.code).not.toBe(0);
    expect(site.printed).toMatch(/INTENT_SEQUENCER_URL: .*does not start with NODE_ENV=production/);
  });

  test('is off in errors: they show no stack, path or setting', async () => {
    const transport = {
      call: async () => Promise.reject(new Error('at /srv/shop/secret.js:1')),
      close: async () => undefined,
    };
    const site = await inProduction(() =>
      startSite({ sequencer: { transport }, payment: () => ({ amount: 1, currency: 'nothing' }) }),
    );
    const post = () => request(site.origin).post('/intent').set('Sec-Fetch-Site', 'same-origin');
    for (const answer of [await post().send({ order: 1 }), await post().send({ mode: 'login' })]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.text).not.toMatch(/\bat |\/srv|\.js|INTENT_/);
    }
  });
});
