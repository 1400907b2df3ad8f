import { type Simulator, startSimulator } from '../../../src/testing.js';

// What any client can expect from a service of this protocol: the simulator, called with hand-written bytes.

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ grpcPort: 0 });
});
afterAll(() => simulator.close());

const page = { origin: 'https://shop.example' };

describe('a browser page of another origin (interface 1)', () => {
  test('can send an envelope to the proxy', async () => {
    const preflight = await fetch(`${simulator.url}/v1/api`, {
      method: 'OPTIONS',
      headers: {
        ...page,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'Content-Type',
    });
    const headers = { ...page, 'content-type': 'application/octet-stream' };
    const answer = await fetch(`${simulator.url}/v1/api`, { method: 'POST', headers, body: Buffer.of(0x0a, 0x00) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['/', '/healthz', '/wallet', '/wallet/api/wallets', '/inspector', '/inspector/api/intents', '/faults/api'])(
    'cannot read %s',
    async (path) => {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await fetch(`${simulator.url}${path}`, { method, headers: page, redirect: 'manual' });
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
        await answer.body?.cancel();
      }
    },
  );
});
