import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import request from 'supertest';
import { type Simulator, startSimulator } from '../../src/simulator/index.js';
import { startRelay, type TcpRelay } from '../support/network/tcp-relay.js';
import { post } from '../support/sites/post.js';
import { destination, LogRecorder, startSite } from '../support/sites/site.js';

// A firewall between the site and the sequencer forgets all open connections: each is reset at its next use, and new ones work.

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ grpcPort: 0 });
});
afterAll(() => simulator.close());

const addressOf = {
  http: (relay: TcpRelay) => ({ url: `http://127.0.0.1:${relay.port}` }),
  grpc: (relay: TcpRelay) => ({ grpcUrl: `http://127.0.0.1:${relay.port}` }),
};

describe.each(['http', 'grpc'] as const)('connections over %s that a firewall has forgotten', (protocol) => {
  test.each([1, 5, 20, 100])('cost no visitor an error, with %d requests in flight', async (inFlight) => {
    const relay = await startRelay(Number(new URL(`${protocol === 'http' ? simulator.url : simulator.grpcUrl}`).port));
    const logger = new LogRecorder();
    const { origin } = await startSite({
      sequencer: addressOf[protocol](relay),
      destination,
      payment: () => ({ amount: '1.00', currency: 'usd' }),
      limits: { requests: false },
      login: false,
      logger,
    });
    const all = async (send: () => request.Test): Promise<number[]> =>
      Promise.all(Array.from({ length: inFlight }, async () => (await send()).status));
    const create = (): request.Test => post(origin).send({ mode: 'payment' });
    // An id that the simulator does not know, so that each status is a call.
    const status = (): request.Test => request(origin).get(`/status/${bs58.encode(randomBytes(32))}`);
    const statuses = { create: 201, status: 200 } as const;
    for (const [name, send] of Object.entries({ create, status })) {
      const expected = Array(inFlight).fill(statuses[name as keyof typeof statuses]);
      expect(await all(send)).toEqual(expected);
      relay.forget();
      expect([name, ...(await all(send))]).toEqual([name, ...expected]);
      // Nothing has counted as a failure.
      expect([name, ...(await all(send))]).toEqual([name, ...expected]);
    }
    expect(logger.lines).toEqual([]);
  });
});
