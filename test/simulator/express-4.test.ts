import { jest } from '@jest/globals';

// The simulator uses the app's version of Express. Express 4 does not catch rejections of handlers.
jest.unstable_mockModule('express', async () => import('express4'));
const { startSimulator } = await import('../../src/simulator/index.js');

test('on Express 4 a rejected handler is answered and the process continues', async () => {
  const simulator = await startSimulator();
  const scan = await fetch(`${simulator.walletUrl}/api/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ wallet: 'Ada', code: 'nonsense' }),
    signal: AbortSignal.timeout(60_000),
  });
  expect([scan.status, await scan.json()]).toMatchObject([400, { error: { code: 'invalid_client_secret' } }]);
  expect((await fetch(`${simulator.url}/healthz`)).status).toBe(200);
  await simulator.close();
});
