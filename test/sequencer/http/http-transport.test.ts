import { spawn } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import dns from 'node:dns';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { createHttpTransport } from '../../../src/sequencer/http/http-transport.js';
import { createIntentClient } from '../../../src/sequencer/intent-client.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { encodeOkResponse, operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import { type Answer, type FaultSequencer, ok, startFaultSequencer } from '../../support/sequencers/fault-sequencer.js';

const body = Uint8Array.of(1, 2, 3);
const answer = Uint8Array.of(4, 5, 6);

let sequencer: FaultSequencer;
const transports: Transport[] = [];

function connect(path = ''): Transport {
  // A timeout that no test reaches.
  const transport = createHttpTransport({ url: sequencer.url + path, timeoutMs: 60_000 });
  transports.push(transport);
  return transport;
}

beforeEach(async () => {
  sequencer = await startFaultSequencer(ok(answer));
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await sequencer.close();
});

it.each([
  ['/', '/v1/api'],
  ['/proxy/', '/proxy/v1/api'],
  ['/with%20space', '/with%20space/v1/api'],
])('base_url with the path "%s" is called at %s (interface 4.1)', async (path, called) => {
  await connect(path).call(operations.getStatus, body);
  expect(sequencer.requests.map(({ path }) => path)).toEqual([called]);
});

it('posts the envelope as octets, without other headers (interface 4.1)', async () => {
  expect(await connect().call(operations.getStatus, body)).toEqual(answer);
  const [request] = sequencer.requests;
  expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/octet-stream' } });
  expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
    'accept-encoding',
    'connection',
    'content-length',
    'content-type',
    'host',
  ]);
  expect(sequencer.calls).toEqual([{ service: 'MicroPayment', method: 'getStatus', body }]);
});

it('sends the envelope of the test vector, byte by byte (protocol 7)', async () => {
  const request = Buffer.from('0a2083c110200748f37e98f0ae36802eebcc605f023a1661f3731c3620b470c78325', 'hex');
  await connect().call(operations.getStatus, Buffer.concat([Buffer.from('0a22', 'hex'), request]));
  expect(Buffer.from(sequencer.requests[0]?.envelope ?? []).toString('hex')).toBe(
    '0a00120c4d6963726f5061796d656e741a0967657453746174757322240a220a2083c110200748f37e98f0ae36802eebcc605f023a1661f3731c3620b470c78325',
  );
});

it('uses one connection for twenty sequential calls', async () => {
  const transport = connect();
  for (let call = 0; call < 20; call += 1) {
    await transport.call(operations.getStatus, body);
    await aTurn();
  }
  expect(sequencer.calls).toHaveLength(20);
  expect(sequencer.connections).toBe(1);
});

it('does not read a long error page to its end', async () => {
  const transport = connect();
  sequencer.answerWith((_call, res) => res.writeHead(500).end(Buffer.alloc(300_000, '<p>')));
  for (let call = 0; call < 3; call += 1) {
    await expect(transport.call(operations.getStatus, body)).rejects.toMatchObject({ code: 'sequencer_bad_status' });
  }
  await eventually(() => sequencer.openConnections === 0);
  await transport.close();
});

it('opens a new connection when the sequencer closed the idle one', async () => {
  const transport = connect();
  sequencer.answerWith((call, res, req) => {
    ok(answer)(call, res, req);
    res.on('finish', () => req.socket.end());
  });
  await transport.call(operations.getStatus, body);
  await eventually(() => sequencer.openConnections === 0);
  expect(await transport.call(operations.getStatus, body)).toEqual(answer);
  expect(sequencer.connections).toBe(2);
});

describe('a connection that is still opening when its call ends', () => {
  /** Holds the DNS lookups of a transport. @returns a function that lets them end */
  function holdLookups(): { readonly transport: Transport; readonly held: (() => void)[] } {
    const held: (() => void)[] = [];
    const lookup = dns.lookup.bind(dns) as (...args: unknown[]) => void;
    jest.spyOn(dns, 'lookup').mockImplementation(((...args: unknown[]) => {
      held.push(() => lookup(...args));
    }) as unknown as typeof dns.lookup);
    const transport = createHttpTransport({
      url: sequencer.url.replace('127.0.0.1', 'localhost'),
      // Longer than any test, so that only an answer or `close` ends a wait.
      timeoutMs: 600_000,
    });
    transports.push(transport);
    return { transport, held };
  }

  function firstMessage(channel: string): Promise<void> {
    return new Promise((resolve) => {
      const listener = (): void => {
        diagnostics.unsubscribe(channel, listener);
        resolve();
      };
      diagnostics.subscribe(channel, listener);
    });
  }

  it('serves a later call', async () => {
    const { transport, held } = holdLookups();
    const controller = new AbortController();
    const first = transport.call(operations.getStatus, body, { signal: controller.signal });
    await eventually('the lookup begins', () => held.length === 1);
    controller.abort('too late');
    await expect(first).rejects.toBe('too late');
    const second = transport.call(operations.getStatus, body);
    await eventually('a lookup of the second call', () => held.length === 2);
    const [endFirst, endSecond] = held;
    const connected = firstMessage('undici:client:connected');
    endFirst?.();
    await connected;
    await aTurn();
    expect(await transport.call(operations.getStatus, body)).toEqual(answer);
    expect([held.length, sequencer.connections]).toEqual([2, 1]);
    endSecond?.();
    expect(await second).toEqual(answer);
    expect([sequencer.connections, sequencer.openConnections, sequencer.requests.length]).toEqual([2, 2, 2]);
  });
});

describe('a response', () => {
  it('that is compressed is not decoded, and its connection is used again', async () => {
    const headers = { 'content-encoding': 'gzip, identity' };
    sequencer.answerWith((_call, res) => res.writeHead(200, headers).end(encodeOkResponse(answer)));
    const transport = connect();
    const call = transport.call(operations.getStatus, body);
    await expect(call).rejects.toMatchObject({ name: 'SequencerError', code: 'sequencer_bad_response' });
    sequencer.answerWith(ok(answer));
    await aTurn();
    expect(await transport.call(operations.getStatus, body)).toEqual(answer);
    expect(sequencer.connections).toBe(1);
  });

  it.each([
    {},
    { 'content-type': 'application/octet-stream' },
    { 'content-type': 'application/x-protobuf' },
    { 'content-type': 'application/json' },
    { 'content-type': 'text/html; charset=utf-8' },
    { 'content-encoding': 'identity' },
  ])('that is an envelope is decoded with %j (protocol 5)', async (headers) => {
    sequencer.answerWith((_call, res) => res.writeHead(200, headers).end(encodeOkResponse(answer)));
    expect(await connect().call(operations.getStatus, body)).toEqual(answer);
  });

  it.each([
    ['text/html', '<!doctype html><title>Sign in to the network</title>'],
    ['text/html', '\r\n  <html><body>502 Bad Gateway</body></html>'],
    ['text/plain', 'OK'],
    ['text/plain', 'upstream connect error or disconnect/reset before headers'],
    ['application/json', '{"status":"ok"}'],
    ['application/octet-stream', '<?xml version="1.0"?><Error/>'],
  ])('of type %s that is the page of a proxy, %j, is rejected', async (type, page) => {
    sequencer.answerWith((_call, res) => res.writeHead(200, { 'content-type': type }).end(page));
    const call = connect().call(operations.getStatus, body);
    await expect(call).rejects.toMatchObject({ code: 'sequencer_bad_response' });
  });
});

it('says that an answer was cut, and does not blame DNS, TLS or the firewall', async () => {
  sequencer.answerWith((_call, _res, { socket }) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n');
  });
  const error = await connect()
    .call(operations.getStatus, body)
    .catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'SequencerError', code: 'sequencer_unreachable' });
  expect(error.message).toContain('broke in the middle of its answer');
  expect(error.message).not.toMatch(/DNS|TLS|firewall/);
});

it('names headers over the limit of the HTTP client', async () => {
  sequencer.answerWith((_call, res) => res.writeHead(200, { 'x-long': 'a'.repeat(20_000) }).end());
  const call = connect().call(operations.getStatus, body);
  await expect(call).rejects.toMatchObject({
    code: 'sequencer_bad_response',
    message: expect.stringContaining('headers of the response are too large'),
  });
});

describe('an informational response before the answer', () => {
  const raw = (informational: string): Answer => {
    const envelope = encodeOkResponse(answer);
    return (_call, _res, { socket }) => {
      socket.write(`HTTP/1.1 ${informational}\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${envelope.length}\r\n\r\n`);
      socket.write(envelope);
    };
  };

  it.each(['102 Processing', '103 Early Hints\r\nlink: </style.css>'])('is skipped: %j', async (informational) => {
    sequencer.answerWith(raw(informational));
    expect(await connect().call(operations.getStatus, body)).toEqual(answer);
  });

  it.each([
    [100, '100 Continue'],
    [101, '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c'],
  ])(
    'is named by the error of a %i, which the HTTP client cannot skip, and the call is not retried',
    async (status, informational) => {
      sequencer.answerWith(raw(informational));
      const client = createIntentClient({ url: sequencer.url, timeoutMs: 60_000 });
      const error = await client.paymentIntents.getStatus('1'.repeat(32)).catch((thrown) => thrown);
      await client.close();
      expect(error).toMatchObject({ name: 'SequencerError', code: 'sequencer_bad_response' });
      expect(error.message).toContain(`informational status ${status} before the answer`);
      expect(error.message).not.toMatch(/DNS|TLS|firewall/);
      expect(sequencer.requests).toHaveLength(1);
    },
  );
});

describe("the caller's signal", () => {
  it('ends a running call with its reason', async () => {
    const reason = new Error('the visitor left');
    const controller = new AbortController();
    sequencer.answerWith(() => controller.abort(reason));
    const call = connect().call(operations.getStatus, body, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
  });
});

describe('close()', () => {
  it('waits for running calls, then closes all connections', async () => {
    const transport = connect();
    const waiting: (() => void)[] = [];
    sequencer.answerWith((call, res, req) => void waiting.push(() => ok(answer)(call, res, req)));
    const calls = [transport.call(operations.getStatus, body), transport.call(operations.getStatus, body)];
    await eventually(() => waiting.length === 2);
    const closed = transport.close();
    for (const release of waiting) release();
    await closed;
    expect(await Promise.all(calls)).toEqual([answer, answer]);
    await eventually(() => sequencer.openConnections === 0);
  });

  it('lets the process exit', async () => {
    sequencer.answerWith(ok());
    const client = fileURLToPath(new URL('../../../dist/client.js', import.meta.url));
    const script = `
      import { createIntentClient } from ${JSON.stringify(client)};
      const client = createIntentClient({ url: ${JSON.stringify(sequencer.url)} });
      await client.paymentIntents.getStatus('1'.repeat(32));
      await client.close();
      console.log('closed');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const killer = setTimeout(() => child.kill(), 40_000);
    const [code] = await once(child, 'close');
    clearTimeout(killer);
    expect({ code, printed }).toEqual({ code: 0, printed: 'closed\n' });
  });
});

/** The HTTP client releases a connection one turn of the event loop after the response. */
const aTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
