// The sequencer of the benchmarks. It answers OK to every call without delay, and uses plain sockets, so it is never the
// bottleneck.
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
/** The delay of each response over HTTP, in milliseconds. */
let delayMs = 0;
let isDown = false;
const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n';

/** An explicit result OK, then the body. */
const envelope = (body) => Buffer.concat([Buffer.from([0x08, 0x00, 0x12, body.length]), body]);
const httpResponses = () =>
  Object.entries(messages).map(([method, body]) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length + 4}\r\n\r\n`;
    return [method, Buffer.concat([Buffer.from(head), envelope(body)])];
  });
let responses = httpResponses();

function serve(socket) {
  let received = Buffer.alloc(0);
  socket.setNoDelay();
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    for (;;) {
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received.latin1Slice(0, headEnd))[1]);
      const end = headEnd + 4 + length;
      if (received.length < end) return;
      const request = received.latin1Slice(headEnd + 4, end);
      received = received.subarray(end);
      calls += 1;
      const response = isDown ? unavailable : responses.find(([method]) => request.includes(method))[1];
      active += 1;
      maxActive = Math.max(maxActive, active);
      const respond = () => {
        active -= 1;
        socket.write(response);
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
  load: () => ({ calls, maxActive }),
  /** Sets the status of all intents, and the delay of responses. When down, every call is answered 503. */
  configure: ({ submitted = false, ms = 0, isDown: down = false }) => {
    isDown = down;
    messages.getStatus = submitted ? submittedStatus : pendingStatus;
    delayMs = ms;
    responses = httpResponses();
  },
});
