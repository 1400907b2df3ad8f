import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { webSocketHandshake } from '../support/network/websocket-handshake.js';
import { type RawAnswer, type RawSequencer, startRawSequencer } from '../support/sequencers/raw-sequencer.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { destination, type Site, startSite } from '../support/sites/site.js';
import { holdTimeouts } from '../support/timeouts.js';

// What a browser gets for each answer of a sequencer, byte by byte, to the call of its request. All other calls get `known`.
// Then what the event stream of a page gets for each such answer, and for each message stream.

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** An OK envelope around a status that exists. */
const known = hex('1202 0801');
/** A status that exists and is submitted. */
const paid = hex('1204 0801 1801');
/** The intent of an event stream. */
const watchedId = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const octets = 'content-type: application/octet-stream';

function response(body: Uint8Array | string, head = `HTTP/1.1 200 OK\r\n${octets}`): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${head}\r\ncontent-length: ${bytes.length}\r\n\r\n`), bytes]);
}

const write =
  (bytes: Uint8Array | string): RawAnswer =>
  (socket) =>
    void socket.write(bytes);
const writeAndEnd =
  (bytes: Uint8Array | string): RawAnswer =>
  (socket) =>
    void socket.end(bytes);
const envelope = (text: string): RawAnswer => write(response(hex(text)));
const status = (line: string, ...headers: string[]): RawAnswer =>
  write(response('no', [`HTTP/1.1 ${line}`, 'content-type: text/plain', ...headers].join('\r\n')));

/** The number of bytes as a varint of three. */
const varint = (length: number): Buffer => Buffer.of((length & 127) | 128, ((length >> 7) & 127) | 128, length >> 14);
/** `known` with an unknown field, or an ERROR with a message, of this many KiB. */
const padded = (start: string, kib: number): Buffer =>
  Buffer.concat([hex(start), varint(kib * 1024), Buffer.alloc(kib * 1024, 'x')]);

function writeByteByByte(socket: Socket, bytes: Buffer): void {
  if (bytes.length === 0) return;
  socket.write(bytes.subarray(0, 1), () => setImmediate(writeByteByByte, socket, bytes.subarray(1)));
}

/** Status and code of `POST /intent`, then those of `GET /status/:id`; the success of a status has `exists` for a code. */
type Expected = readonly [number, string | undefined, number, string];
const exists: Expected = [201, undefined, 200, 'exists'];
const absent: Expected = [201, undefined, 200, 'absent'];
const refused: Expected = [502, 'intent_refused', 502, 'sequencer_error'];
const both = (httpStatus: number, code: string): Expected => [httpStatus, code, httpStatus, code];
const unreadable = both(502, 'sequencer_bad_response');
const badStatus = both(502, 'sequencer_bad_status');

/** A timeout that no test reaches, and that of an attempt. Nothing else has these durations. */
const [timeoutMs, attemptTimeoutMs] = [160_008, 60_003];

function startSiteOf({ url }: RawSequencer, callTimeoutMs = timeoutMs): Promise<Site> {
  return startSite({
    sequencer: { url, timeoutMs: callTimeoutMs },
    payment: () => ({ amount: '4.50', currency: 'usd' }),
  });
}

const answers: [string, RawAnswer, Expected][] = [
  ['no bytes', envelope(''), absent],
  ['no bytes and no type', write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), absent],
  ['no bytes of type text/plain', write(response('', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain')), unreadable],
  ['no bytes and no length', writeAndEnd(`HTTP/1.1 200 OK\r\n${octets}\r\n\r\n`), unreadable],
  ['0800', envelope('0800'), absent],
  ['1a00', envelope('1a00'), absent],
  ['1a000800', envelope('1a00 0800'), absent],
  ['unknown fields alone', envelope('4807 7a0178'), absent],
  ['60 KiB of unknown fields', write(response(padded('1202 0801 7a', 60))), exists],
  ['100 KiB of unknown fields', write(response(padded('1202 0801 7a', 100))), unreadable],
  ['a status that exists', envelope('1202 0801'), exists],
  ['fields in another order', envelope('1a00 1202 0801 0800'), exists],
  ['ffff behind the message', envelope('1202 0801 ffff'), unreadable],
  ['a line break behind the message', envelope('1202 0801 0d0a'), unreadable],
  ['OK with a message', envelope('0800 1a026e6f'), unreadable],
  ['result 2', envelope('0802'), unreadable],
  ['ERROR with a message', envelope('0801 1a026e6f'), refused],
  ['ERROR without a message', envelope('0801'), both(502, 'sequencer_error')],
  ['ERROR with a message of 60 KiB', write(response(padded('0801 1a', 60))), refused],
  ['ERROR with a message of 100 KiB', write(response(padded('0801 1a', 100))), unreadable],
  ['HTTP 201', write(response(known, `HTTP/1.1 201 Created\r\n${octets}`)), exists],
  ['HTTP 204', write(`HTTP/1.1 204 No Content\r\n${octets}\r\n\r\n`), unreadable],
  ['a page', write(response('<!doctype html><p>Sign in', 'HTTP/1.1 200 OK\r\ncontent-type: text/html')), unreadable],
  ['an envelope of type text/html', write(response(known, 'HTTP/1.1 200 OK\r\ncontent-type: text/html')), exists],
  ['HTTP 307', status('307 Temporary Redirect', 'location: /v1/api'), badStatus],
  ['HTTP 401', status('401 Unauthorized'), badStatus],
  ['HTTP 404', status('404 Not Found'), badStatus],
  ['HTTP 429 with Retry-After', status('429 Too Many Requests', 'retry-after: 60'), badStatus],
  ['HTTP 503 with Retry-After', status('503 Service Unavailable', 'retry-after: 60'), badStatus],
  [
    'a chunked envelope',
    write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\x12\r\n3\r\n\x02\x08\x01\r\n0\r\n\r\n`),
    exists,
  ],
  ['one byte in each segment', (socket) => writeByteByByte(socket, response(known)), exists],
  ['late by a second', (socket) => void setTimeout(() => socket.write(response(known)), 1_000), exists],
  ['HTTP/1.0', writeAndEnd(response(known, `HTTP/1.0 200 OK\r\n${octets}`)), exists],
  ['HTTP/1.0 without a length', writeAndEnd(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\n\r\n'), known])), exists],
  ['Connection: close', writeAndEnd(response(known, `HTTP/1.1 200 OK\r\n${octets}\r\nconnection: close`)), exists],
  ['gzip', write(response(gzipSync(known), `HTTP/1.1 200 OK\r\n${octets}\r\ncontent-encoding: gzip`)), unreadable],
  ['a length over that of the body', writeAndEnd(response(known).subarray(0, -1)), both(503, 'sequencer_unreachable')],
  [
    'a length under that of the body',
    write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\x12\x02\x08\x01'),
    unreadable,
  ],
  [
    '100 before the answer',
    write(Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), response(known)])),
    unreadable,
  ],
  [
    '103 before the answer',
    write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), response(known)])),
    exists,
  ],
  ['a reset, once', (socket, n) => (n === 1 ? socket.resetAndDestroy() : socket.write(response(known))), exists],
];

test.each(answers)('an answer: %s', async (_name, answer, [createdStatus, createdCode, readStatus, readCode]) => {
  let special = 'createIntent';
  const sequencer = await startRawSequencer((method) => (method === special ? answer : write(response(known))));
  try {
    const site = await startSiteOf(sequencer);
    const browser = new Browser(site.origin);
    const created = await browser.send('POST', '/intent', { order: 1 });
    expect([created.status, created.body.code]).toEqual([createdStatus, createdCode]);
    expect('client_secret' in created.body).toBe(createdStatus === 201);

    special = 'getStatus';
    const read = await browser.send('GET', `/status/${destination}`);
    const isKnown = read.body.exists ? 'exists' : 'absent';
    expect([read.status, read.body.code ?? isKnown]).toEqual([readStatus, readCode]);
  } finally {
    await sequencer.close();
  }
});

/** The status at the beginning of an event stream: absent, exists or paid. */
async function firstStatusOf({ origin }: Site): Promise<string> {
  const page = await fetch(`${origin}/intent/${watchedId}/events`);
  let text = '';
  for await (const part of page.body ?? []) {
    text += Buffer.from(part).toString();
    const [, data] = /^event: status\ndata: (.*)\n\n/m.exec(text) ?? [];
    if (data === undefined) continue;
    const { exists: isKnown, intent_submitted: isPaid } = JSON.parse(data);
    return isPaid ? 'paid' : isKnown ? 'exists' : 'absent';
  }
  return text;
}

test.each<[string, number, Expected]>([
  ['the first attempt', timeoutMs, exists],
  // A call of less than three seconds is one attempt.
  ['the call', 800, both(504, 'sequencer_timeout')],
])('an answer later than %s', async (_what, callTimeoutMs, [createdStatus, createdCode, readStatus, readCode]) => {
  const late: Socket[] = [];
  let isNextLate = false;
  const sequencer = await startRawSequencer(() => (socket) => {
    if (isNextLate) late.push(socket);
    else socket.write(response(known));
    isNextLate = false;
  });
  const expire = holdTimeouts(attemptTimeoutMs);
  /** Sends a request. The late answer follows after the timeout of its attempt. */
  const send = async <Answer>(request: () => Promise<Answer>): Promise<Answer> => {
    isNextLate = true;
    const answer = request();
    await eventually(() => late.length === 1);
    expire();
    const answered = await answer;
    late.splice(0)[0]?.write(response(hex('0801')));
    return answered;
  };
  const site = await startSiteOf(sequencer, callTimeoutMs);
  const browser = new Browser(site.origin);
  const create = () => browser.send('POST', '/intent', { order: 1 });
  const read = () => browser.send('GET', `/status/${destination}`);
  try {
    const created = await send(create);
    expect([created.status, created.body.code]).toEqual([createdStatus, createdCode]);
    expect('client_secret' in created.body).toBe(createdStatus === 201);
    expect((await create()).status).toBe(201);

    const { status: httpStatus, body } = await send(read);
    expect([httpStatus, body.code ?? 'exists']).toEqual([readStatus, readCode]);
    expect((await read()).body.exists).toBe(true);

    expect(await send(() => firstStatusOf(site))).toBe('exists');
  } finally {
    await sequencer.close();
  }
});

test('an event stream begins with the status of the answer, or with the next status after a failed answer', async () => {
  /** The sequencer sends the answer to two requests, and then that the intent is paid. */
  async function firstStatusWith(answer: RawAnswer): Promise<string> {
    const sequencer = await startRawSequencer(
      () => (socket, n, head) => (n <= 2 ? answer : write(response(paid)))(socket, n, head),
    );
    try {
      return await firstStatusOf(await startSiteOf(sequencer));
    } finally {
      await sequencer.close();
    }
  }
  // All at once, because a failed answer is followed by a pause.
  const seen = await Promise.all(answers.map(([, answer]) => firstStatusWith(answer).catch(String)));
  const expected = answers.map(([, , [, , httpStatus, code]]) => (httpStatus === 200 ? code : 'paid'));
  const byName = (statuses: string[]) => Object.fromEntries(answers.map(([name], index) => [name, statuses[index]]));
  expect(byName(seen)).toEqual(byName(expected));
});

describe('a message stream of the sequencer', () => {
  /** An envelope with one message: an id of 16 bytes, and `webhook_called`. */
  const message = hex('1218 0a16 0a12 0a10 00112233445566770011223344556677 4a00');

  const frameOf = (payload: Uint8Array, firstByte = 0x82): Buffer => {
    const { length } = payload;
    const head =
      length < 126
        ? [length]
        : length < 65_536
          ? [126, length >> 8, length & 255]
          : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
    return Buffer.concat([Buffer.of(firstByte, ...head), payload]);
  };
  /** Accepts the handshake and writes bytes. */
  const accepting =
    (...written: Uint8Array[]): RawAnswer =>
    (socket, _n, head) =>
      void socket.write(Buffer.concat([webSocketHandshake(head), ...written]));
  const frames = (...payloads: (string | Uint8Array)[]): RawAnswer =>
    accepting(...payloads.map((payload) => frameOf(typeof payload === 'string' ? hex(payload) : payload)));
  /** Accepts the handshake after an informational response, and writes the message. */
  const informed =
    (line: string): RawAnswer =>
    (socket, n, head) => {
      socket.write(`HTTP/1.1 ${line}\r\n\r\n`);
      frames(message)(socket, n, head);
    };

  /** The events of a page if the site reads the message, and if it opens another stream and polls meanwhile. */
  const reads = ['status', 'webhook_called', 'intent_submitted'];
  const opensAnother = ['status', 'intent_submitted'];
  const rows: [string, RawAnswer, string[]][] = [
    ['HTTP 201', write(response(message, `HTTP/1.1 201 Created\r\n${octets}`)), opensAnother],
    ['HTTP 204', write('HTTP/1.1 204 No Content\r\n\r\n'), opensAnother],
    ['HTTP 307', status('307 Temporary Redirect', 'location: /v1/api'), opensAnother],
    ['HTTP 401', status('401 Unauthorized'), opensAnother],
    ['404', status('404 Not Found'), opensAnother],
    ['429 with Retry-After', status('429 Too Many Requests', 'retry-after: 60'), opensAnother],
    ['503 with Retry-After', status('503 Service Unavailable', 'retry-after: 60'), opensAnother],
    [
      'a page',
      write(response('<!doctype html><p>Sign in', 'HTTP/1.1 200 OK\r\ncontent-type: text/html')),
      opensAnother,
    ],
    ['an envelope instead of a handshake', write(response(message)), opensAnother],
    ['no handshake', (socket) => void socket.end(), opensAnother],
    [
      'a reset, once',
      (socket, n, head) => (n === 1 ? socket.resetAndDestroy() : frames(message)(socket, n, head)),
      reads,
    ],
    ['100 before the handshake', informed('100 Continue'), reads],
    ['103 before the handshake', informed('103 Early Hints'), reads],
    [
      'a handshake late by a second',
      (socket, n, head) => void setTimeout(() => frames(message)(socket, n, head), 1_000),
      reads,
    ],
    ['a close frame at once', accepting(frameOf(hex('03e8'), 0x88)), opensAnother],
    ['an end at once', (socket, _n, head) => void socket.end(webSocketHandshake(head)), opensAnother],
    ['a message', frames(message), reads],
    [
      'one byte in each segment',
      (socket, _n, head) => writeByteByByte(socket, Buffer.concat([webSocketHandshake(head), frameOf(message)])),
      reads,
    ],
    [
      'a fragmented message',
      accepting(frameOf(message.subarray(0, 9), 0x02), frameOf(message.subarray(9), 0x80)),
      reads,
    ],
    ['a ping before the message', accepting(frameOf(hex(''), 0x89), frameOf(message)), reads],
    ['no bytes', frames('', message), reads],
    ['0800', frames('0800', message), reads],
    ['1a00', frames('1a00', message), reads],
    ['1a000800', frames('1a00 0800', message), reads],
    ['unknown fields alone', frames('4807 7a0178', message), reads],
    [
      'unknown fields in the message',
      frames('121b 0a19 0a12 0a10 00112233445566770011223344556677 4a00 7a0178 4807'),
      reads,
    ],
    ['60 KiB of unknown fields', frames(Buffer.concat([message, padded('7a', 60)])), reads],
    ['100 KiB of unknown fields', frames(Buffer.concat([message, padded('7a', 100)])), opensAnother],
    ['ffff behind the message', frames(Buffer.concat([message, hex('ffff')])), opensAnother],
    ['a line break behind the message', frames(Buffer.concat([message, hex('0d0a')])), opensAnother],
    ['ERROR with a message', frames('0801 1a026e6f', message), opensAnother],
    ['ERROR without a message', frames('0801', message), opensAnother],
    ['OK with a message', frames('0800 1a026e6f', message), opensAnother],
    ['result 2', frames('0802', message), opensAnother],
    ['junk', frames('ffffffff', message), opensAnother],
    ['junk in an envelope', frames('1202 ffff', message), opensAnother],
    ['a text frame', accepting(frameOf(message, 0x81)), opensAnother],
    ['a compressed frame', accepting(frameOf(message, 0xc2)), opensAnother],
    [
      'a frame shorter than its length',
      (socket, _n, head) =>
        void socket.end(Buffer.concat([webSocketHandshake(head), frameOf(message).subarray(0, -1)])),
      opensAnother,
    ],
  ];

  /** The events of a page, until the sequencer says that its intent is paid. It says so after the outcome of the stream. */
  async function eventsWith(answer: RawAnswer): Promise<string[]> {
    let streams = 0;
    let text = '';
    const isDecided = (): boolean => streams > 1 || text.includes('event: webhook_called');
    const sequencer = await startRawSequencer((method) => {
      if (method !== 'openMessageStream') return write(response(method === 'getStatus' && isPaid ? paid : known));
      return (socket, n, head) => {
        streams = n;
        answer(socket, n, head);
      };
    });
    let isPaid = false;
    try {
      const site = await startSiteOf(sequencer);
      const created = await new Browser(site.origin).send('POST', '/intent', { order: 1 });
      const page = await fetch(`${site.origin}/intent/${intentIdOf(String(created.body.client_secret))}/events`);
      const reading = (async () => {
        for await (const part of page.body ?? []) text += Buffer.from(part).toString();
      })();
      await eventually(isDecided);
      isPaid = true;
      await reading;
      return [...text.matchAll(/^event: (.*)$/gm)].map(([, event = '']) => event);
    } finally {
      await sequencer.close();
    }
  }

  test('is read or replaced by another, and the payment is reported', async () => {
    // All at once, because each waits for the next poll.
    const events = await Promise.all(rows.map(([, answer]) => eventsWith(answer).catch(String)));
    expect(Object.fromEntries(rows.map(([name], index) => [name, events[index]]))).toEqual(
      Object.fromEntries(rows.map(([name, , expected]) => [name, expected])),
    );
  });
});
