// The sequencer of the benchmark: says OK to everything, at once. Bare sockets, so that it is never what all others wait
// for. Driven by messages from its parent.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** exists and code_scanned; then submitted as well. */
const pendingStatus = Buffer.from('08011001', 'hex');
const submittedStatus = Buffer.from('080110011801', 'hex');

/** What it answers, by the method that is called: the inner messages of the interface. */
const answers = {
  // The status of what was created: it exists.
  createIntent: Buffer.from('0801', 'hex'),
  getStatus: pendingStatus,
  // OK, and a user id of 32 bytes.
  getLoginForThirdPartyApp: Buffer.concat([Buffer.from('12220a20', 'hex'), Buffer.alloc(32, 7)]),
};
let calls = 0;
/** Calls over HTTP that have no answer yet, and the most of them. */
let [running, most] = [0, 0];
/** How long it thinks about each call over HTTP, in milliseconds. */
let thinksMs = 0;
let isDown = false;
const unavailable = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n';

/** Result OK written out, then the body. */
const envelope = (body) => Buffer.concat([Buffer.from([0x08, 0x00, 0x12, body.length]), body]);
const overHttp = () =>
  Object.entries(answers).map(([method, body]) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length + 4}\r\n\r\n`;
    return [method, Buffer.concat([Buffer.from(head), envelope(body)])];
  });
let written = overHttp();

function serve(socket) {
  let kept = Buffer.alloc(0);
  socket.setNoDelay();
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    for (;;) {
      const headEnd = kept.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(kept.latin1Slice(0, headEnd))[1]);
      const end = headEnd + 4 + length;
      if (kept.length < end) return;
      const request = kept.latin1Slice(headEnd + 4, end);
      kept = kept.subarray(end);
      calls += 1;
      const answer = isDown ? unavailable : written.find(([method]) => request.includes(method))[1];
      running += 1;
      most = Math.max(most, running);
      const give = () => {
        running -= 1;
        socket.write(answer);
      };
      if (thinksMs === 0) give();
      else setTimeout(give, thinksMs);
    }
  });
}

/** The same over gRPC, by the names of the protocol. */
async function grpcPort() {
  const { Server, ServerCredentials } = await import('@grpc/grpc-js');
  const server = new Server();
  const bytes = (value) => value;
  const unary = { requestStream: false, responseStream: false };
  const codec = {
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  for (const [service, method] of [
    ['Intents', 'createIntent'],
    ['MicroPayment', 'getStatus'],
  ]) {
    const path = `/intents.v1.${service}/${method[0].toUpperCase()}${method.slice(1)}`;
    const answer = (_call, done) => {
      calls += 1;
      done(null, answers[method]);
    };
    server.addService({ [method]: { path, ...unary, ...codec } }, { [method]: answer });
  }
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

const http = createServer(serve).listen({ port: 0, host: '127.0.0.1', backlog: 1024 });
await once(http, 'listening');
const grpc = await grpcPort();

const asked = {
  addresses: () => ({ url: `http://127.0.0.1:${http.address().port}`, grpcUrl: `http://127.0.0.1:${grpc}` }),
  calls: () => calls,
  load: () => ({ calls, most }),
  /** What it says from now on: whether an intent was submitted, and after how long; or 503 to everything. */
  behave: ({ submitted = false, ms = 0, isDown: down = false }) => {
    isDown = down;
    answers.getStatus = submitted ? submittedStatus : pendingStatus;
    thinksMs = ms;
    written = overHttp();
  },
};
process.on('message', async ({ n, ask, options }) => process.send({ n, answer: await asked[ask](options) }));
process.on('disconnect', () => process.exit());
