import { jest } from '@jest/globals';
import type { Response } from 'express';
import { Browser } from '../../support/browser/browser.js';
import { eventually } from '../../support/eventually.js';
import { faultSequencer, ok } from '../../support/sequencers/fault-sequencer.js';
import { intentId, startEventSite } from '../../support/sites/event-site.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { startSite } from '../../support/sites/site.js';

const alphabet = 'ABCDEFGH';
/** The id of the nth intent. */
const idOf = (n: number): string =>
  `${intentId.slice(0, -3)}${alphabet[n % 8]}${alphabet[Math.trunc(n / 8) % 8]}${'xyz1234'[Math.trunc(n / 64) % 7]}`;

describe('watches that outlive their last listener', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Opens a stream, disconnects when its intent is watched, and waits until the stream is released. */
  async function openAndDisconnect(
    { origin, context, watch }: Awaited<ReturnType<typeof startEventSite>>,
    n: number,
  ): Promise<void> {
    const before = watch.started.length;
    const stream = new RawStream(origin, `/intent/${idOf(n)}/events`);
    await eventually('the intent is watched', () => watch.started.length > before);
    stream.socket.destroy();
    await eventually('the stream is released', () => context.connectionLimiter.open === 0);
  }

  test('are limited to the number of streams that an address may have', async () => {
    const site = await startEventSite();
    for (let n = 0; n < 100; n += 1) await openAndDisconnect(site, n);
    expect(site.watch.started).toHaveLength(100);
    expect([site.watch.running, site.context.events.size]).toEqual([20, 20]);
    jest.advanceTimersByTime(5_000);
    await eventually('no watch runs', () => site.watch.running + site.context.events.size === 0);
  });

  test('are freed for others when their listener returns', async () => {
    const site = await startEventSite({ streamLimits: { perAddress: 1 } });
    await openAndDisconnect(site, 0);
    const returned = new RawStream(site.origin, `/intent/${idOf(0)}/events`);
    await returned.has('event: status');
    expect([site.watch.running, site.watch.started.length]).toEqual([1, 1]);
    returned.socket.destroy();
    await eventually('the stream is released', () => site.context.connectionLimiter.open === 0);
    expect(site.watch.running).toBe(1);
    await openAndDisconnect(site, 1);
    await eventually('the other watch has ended', () => site.watch.running === 1);
  });
});

describe('clients that disconnect', () => {
  const status = ok(Uint8Array.of(0x08, 0x01));
  const user = ok(Uint8Array.of(0x12, 0x22, 0x0a, 0x20, ...new Array<number>(32).fill(0)));

  /** A site whose service answers a call on `release`. */
  async function startHeldSite() {
    const sequencer = await faultSequencer(ok());
    const responses: Response[] = [];
    const site = await startSite(
      // The test holds a call for any time.
      { sequencer: { timeoutMs: 1_600_000 } },
      {
        sequencer: { url: sequencer.url },
        before: (app) =>
          app.use((_req, res, next) => {
            responses.push(res);
            next();
          }),
      },
    );
    let release = (): void => undefined;
    /** Sends a request whose client disconnects during the call to the service. */
    const sendAndDisconnect = async (send: () => RawStream): Promise<void> => {
      const calls = sequencer.calls.length;
      sequencer.answerWith((call, res, req) => {
        release = () => (call.operation.method === 'getStatus' ? status : user)(call, res, req);
      });
      const visitor = send();
      await eventually('the call has reached the service', () => sequencer.calls.length === calls + 1);
      visitor.socket.destroy();
      await eventually('the router has seen the disconnect', () => responses.at(-1)?.closed === true);
      sequencer.answerWith((call, res, req) => (call.operation.method === 'getStatus' ? status : user)(call, res, req));
    };
    return { ...site, sequencer, sendAndDisconnect, release: () => release() };
  }

  test('during GET /status/:id close no connection to the service', async () => {
    const { origin, sequencer, sendAndDisconnect, release, log } = await startHeldSite();
    for (let n = 1; n <= 10; n += 1) {
      await sendAndDisconnect(() => new RawStream(origin, `/status/${idOf(n)}`));
      const next = new RawStream(origin, `/status/${idOf(n)}`);
      release();
      await next.has('"exists":true');
    }
    expect([sequencer.connections, sequencer.openConnections]).toEqual([1, 1]);
    expect(log.lines).toEqual([]);
  });

  test('during POST /session close no connection to the service, and can complete the login afterwards', async () => {
    const { origin, sequencer, sendAndDisconnect, release, log } = await startHeldSite();
    const browser = new Browser(origin);
    const created = await browser.send('POST', '/intent', { mode: 'login' });
    const body = JSON.stringify({ id: intentIdOf(String(created.body.client_secret)) });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    await sendAndDisconnect(() => {
      const stream = new RawStream(origin, '/openapi-is-elsewhere');
      stream.socket.write(
        `POST /session HTTP/1.1\r\nHost: site\r\nCookie: ${cookie}\r\nSec-Fetch-Site: same-origin\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      return stream;
    });
    release();
    expect(await browser.send('POST', '/session', JSON.parse(body))).toMatchObject({ status: 200 });
    expect(sequencer.openConnections).toBe(sequencer.connections);
    expect(log.lines).toEqual([]);
  });
});
