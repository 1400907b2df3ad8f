import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Browser } from '../support/browser/browser.js';
import { type RawAnswer, startRawSequencer } from '../support/sequencers/raw-sequencer.js';
import { destination, startSite } from '../support/sites/site.js';

// What a browser gets for each answer of a sequencer, byte by byte, to the call of its request. All other calls get `known`.

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** An OK envelope around a status that exists. */
const known = hex('1202 0801');
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

function writeByteByByte(socket: Socket, bytes: Buffer): void {
  if (bytes.length === 0) return;
  socket.write(bytes.subarray(0, 1), () => setImmediate(writeByteByByte, socket, bytes.subarray(1)));
}

/** Status and code of `POST /intent`, then those of `GET /status/:id`; the success of a status has `exists` for a code. */
type Expected = readonly [number, string | undefined, number, string];
const exists: Expected = [201, undefined, 200, 'exists'];
const absent: Expected = [201, undefined, 200, 'absent'];
const both = (httpStatus: number, code: string): Expected => [httpStatus, code, httpStatus, code];
const unreadable = both(502, 'sequencer_bad_response');
const badStatus = both(502, 'sequencer_bad_status');

test.each<[string, RawAnswer, Expected]>([
  ['no bytes', envelope(''), absent],
  ['no bytes and no type', write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), absent],
  ['no bytes of type text/plain', write(response('', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain')), unreadable],
  ['no bytes and no length', writeAndEnd(`HTTP/1.1 200 OK\r\n${octets}\r\n\r\n`), unreadable],
  ['0800', envelope('0800'), absent],
  ['1a00', envelope('1a00'), absent],
  ['1a000800', envelope('1a00 0800'), absent],
  ['unknown fields alone', envelope('4807 7a0178'), absent],
  ['a status that exists', envelope('1202 0801'), exists],
  ['fields in another order', envelope('1a00 1202 0801 0800'), exists],
  ['ffff behind the message', envelope('1202 0801 ffff'), unreadable],
  ['a line break behind the message', envelope('1202 0801 0d0a'), unreadable],
  ['OK with a message', envelope('0800 1a026e6f'), unreadable],
  ['result 2', envelope('0802'), unreadable],
  ['ERROR with a message', envelope('0801 1a026e6f'), [502, 'intent_refused', 502, 'sequencer_error']],
  ['ERROR without a message', envelope('0801'), both(502, 'sequencer_error')],
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
])('an answer of the sequencer: %s', async (_name, answer, [createdStatus, createdCode, readStatus, readCode]) => {
  let special = 'createIntent';
  const sequencer = await startRawSequencer((method) => (method === special ? answer : write(response(known))));
  try {
    const site = await startSite({
      // A timeout that no test reaches.
      sequencer: { url: sequencer.url, timeoutMs: 160_000 },
      payment: () => ({ amount: '4.50', currency: 'usd' }),
    });
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
