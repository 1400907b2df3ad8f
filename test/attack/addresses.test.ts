import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { intentId, startEventSite } from '../support/sites/event-site.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { type SiteOptions, startSite } from '../support/sites/site.js';
import { recordingTransport } from '../support/transports/recording-transport.js';

const behindProxy: Pick<SiteOptions, 'before'> = { before: (app) => app.set('trust proxy', 1) };
const limit = 4;

/** The statuses of one request from each address, as a proxy forwards it. */
async function statusesFrom(origin: string, addresses: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const address of addresses) {
    const { status } = await request(origin).get(`/status/${intentId}`).set('X-Forwarded-For', address);
    statuses.push(status);
  }
  return statuses;
}

const startLimited = (options: SiteOptions = {}) =>
  startSite(
    { sequencer: { transport: recordingTransport() }, limits: { requests: { status: limit } } },
    behindProxy,
    options,
  );

const times = <Value>(count: number, make: (n: number) => Value): Value[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe('other spellings of one address', () => {
  test.each([
    ['with a port', (n: number) => `192.0.2.1:${1024 + n}`],
    ['IPv6 with a port', (n: number) => `[2001:db8::1]:${1024 + n}`],
    [
      'mapped to IPv6',
      (n: number) => ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:192.0.2.1'][n % 4] ?? '',
    ],
    ['mapped by NAT64', (n: number) => ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'][n % 2] ?? ''],
    ['not addresses', (n: number) => `made-up-${n}`],
  ])('share one limit when they are %s', async (_name, addressOf) => {
    const { origin } = await startLimited();
    const statuses = await statusesFrom(origin, times(limit + 2, addressOf));
    expect(statuses).toEqual([...times(limit, () => 200), 429, 429]);
  });

  test.each([
    ['mapped to IPv6', (n: number) => `::ffff:102:30${n}`],
    ['mapped by NAT64', (n: number) => `64:ff9b::102:30${n}`],
  ])('do not exhaust the limit of another visitor when they are %s', async (_name, addressOf) => {
    const { origin } = await startLimited();
    await statusesFrom(
      origin,
      times(limit + 1, () => addressOf(1)),
    );
    expect(
      await statusesFrom(
        origin,
        times(7, (n) => addressOf(n + 2)),
      ),
    ).toEqual(times(7, () => 200));
  });

  test('share one limit of event streams', async () => {
    const { origin } = await startEventSite({ streamLimits: { perAddress: 1 }, ...behindProxy });
    const heads: string[] = [];
    const ofOne56 = ['2001:db8:0:100::1', '2001:db8:0:1ff:7::1'];
    for (const address of ['192.0.2.1:1', '192.0.2.1:2', '::ffff:c000:201', ...ofOne56]) {
      const stream = new RawStream(origin, `/intent/${intentId}/events`, [`X-Forwarded-For: ${address}`]);
      await stream.has('\r\n\r\n');
      heads.push(stream.head.slice(9, 12));
    }
    expect(heads).toEqual(['200', '429', '429', '200', '429']);
  });
});

describe('a /48 of IPv6', () => {
  /** Another /56 each time. */
  const addressOf = (n: number): string => `2001:db8:1:${(n * 256).toString(16)}::1`;

  test('may send eight times as many requests as an address', async () => {
    const { origin } = await startLimited();
    const addresses = times(8 * limit + 2, (n) => addressOf(n % 32));
    expect(await statusesFrom(origin, addresses)).toEqual([...times(8 * limit, () => 200), 429, 429]);
    expect(await statusesFrom(origin, ['2001:db8:2::1', '192.0.2.1'])).toEqual([200, 200]);
  });

  test('may open eight times as many event streams as an address', async () => {
    const { origin, context } = await startEventSite({ streamLimits: { perAddress: 1 }, ...behindProxy });
    const streams: RawStream[] = [];
    for (const address of [...times(10, addressOf), '2001:db8:2::1']) {
      const stream = new RawStream(origin, `/intent/${intentId}/events`, [`X-Forwarded-For: ${address}`]);
      await stream.has('\r\n\r\n');
      streams.push(stream);
    }
    expect(streams.map(({ head }) => Number(head.slice(9, 12)))).toEqual([...times(8, () => 200), 429, 429, 200]);
    for (const { socket } of streams) socket.destroy();
    await eventually(
      'no stream is counted',
      () => context.connectionLimiter.open + context.connectionLimiter.trackedKeys === 0,
    );
  });
});
