// The sequencer of the benchmarks. It answers OK to every call without delay, and uses plain sockets, so it is never the
// bottleneck. It serves message streams only while it writes byte by byte.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { handleCalls } from './process.mjs';

/** `exists` and `code_scanned`; then `intent_submitted` too. */
const pendingStatus = Buffer.from('08011001', 'hex');
const submittedStatus = Buffer.from('080110011801', 'hex');

/** The inner message of the response, by method. */
const messages = {
  // The status of the new intent: `exists`.
  createIntent: Buffer.from('0801', 'hex'),
  getStatus: pendingStatus,
  // A user id of 32 bytes.
  getLoginForThirdPartyApp: Buffer.concat([Buffer.from('12220a20', 'hex'), Buffer.alloc(32, 7)]),
};
let calls = 0;
/** Concurrent calls over HTTP, now and at most. */
let [active, maxActive] = [0, 0];
/** WebSockets that were opened. */
let messageStreams = 0;
/** The delay of each response over HTTP, in milliseconds. */
let delayMs = 0;
let isDown = false;
/** Whether each byte is a write of its own. */
let isByteByByte = false;
const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n';

/** An explicit result OK, then the body. */
const envelope = (body) => Buffer.concat([Buffer.from([0x08, 0x00, 0x12, body.length]), body]);
const httpResponses = () =>
  Object.entries(messages).map(([method, body]) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length + 4}\r\n\r\n`;
    return [method, Buffer.concat([Buffer.from(head), envelope(body)])];
  });
let responses = httpResponses();

/** The status of an id that repeats one byte is `exists: false`, so that its event stream ends. */
const repeatedByteId = /(.)\1{31}/s;
const unknownIntent = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 0\r\n\r\n',
);

function responseTo(request) {
  if (isDown) return unavailable;
  if (isByteByByte && repeatedByteId.test(request)) return unknownIntent;
  return responses.find(([method]) => request.includes(method))[1];
}

function write(socket, bytes) {
  if (!isByteByByte) return socket.write(bytes);
  const queue = (queues.get(socket) ?? Promise.resolve()).then(() => writeByteByByte(socket, Buffer.from(bytes)));
  queues.set(socket, queue);
}

/** The end of the last write, by socket. */
const queues = new WeakMap();

async function writeByteByByte(socket, bytes) {
  for (let at = 0; at < bytes.length && socket.writable; at += 1) {
    socket.write(bytes.subarray(at, at + 1));
    await new Promise(setImmediate);
  }
}

/** Opens a WebSocket, and sends two frames with an OK envelope and an empty response. Then it stays open. */
function openMessageStream(socket, head) {
  messageStreams += 1;
  socket.removeAllListeners('data').resume();
  const key = /sec-websocket-key: (\S+)/i.exec(head)[1];
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = [
    '101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  write(socket, `HTTP/1.1 ${lines.join('\r\n')}\r\n\r\n`);
  for (let n = 0; n < 2; n += 1) write(socket, Buffer.from('820408001200', 'hex'));
}

function serve(socket) {
  let received = Buffer.alloc(0);
  socket.setNoDelay();
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.latin1Slice(0, headEnd);
      if (isByteByByte && head.startsWith('GET ')) return openMessageStream(socket, head);
      const length = Number(/content-length: (\d+)/i.exec(head)[1]);
      const end = headEnd + 4 + length;
      if (received.length < end) return;
      const request = received.latin1Slice(headEnd + 4, end);
      received = received.subarray(end);
      calls += 1;
      const response = responseTo(request);
      active += 1;
      maxActive = Math.max(maxActive, active);
      const respond = () => {
        active -= 1;
        write(socket, response);
      };
      if (delayMs === 0) respond();
      else setTimeout(respond, delayMs);
    }
  });
}

const http = createServer(serve).listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
await once(http, 'listening');

handleCalls({
  addresses: () => ({ url: `http://127.0.0.1:${http.address().port}` }),
  calls: () => calls,
  load: () => ({ calls, maxActive, messageStreams }),
  /** Sets the status of all intents, the delay of responses, and how they are written. When down, every call is answered 503. */
  configure: ({ submitted = false, ms = 0, isDown: down = false, byteByByte = false }) => {
    isDown = down;
    isByteByByte = byteByByte;
    messages.getStatus = submitted ? submittedStatus : pendingStatus;
    delayMs = ms;
    responses = httpResponses();
  },
});
