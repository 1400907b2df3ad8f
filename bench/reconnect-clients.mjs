// The clients of bench/reconnect.mjs, many in one process, each as an EventSource. Driven by messages.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import bs58 from 'bs58';
import { answerParent } from './answer-parent.mjs';

/** When each was greeted since `begin`. */
const backAtMs = new Map();

/** Listens for ever, over one connection after the other. */
function listen(port, id) {
  let retryMs = 3_000;
  const open = () => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      const retry = /^retry: (\d+)$/m.exec(text);
      if (retry) retryMs = Number(retry[1]);
      if (!/^event: status$/m.test(text)) return;
      if (!backAtMs.has(id)) backAtMs.set(id, Date.now());
      text = '';
    });
    socket.on('error', () => undefined);
    socket.on('close', () => setTimeout(open, retryMs));
    socket.write(`GET /intent/${id}/events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n`);
  };
  open();
}

answerParent({
  open: ({ port, count }) => {
    for (let n = 0; n < count; n += 1) listen(port, bs58.encode(randomBytes(32)));
  },
  begin: () => backAtMs.clear(),
  backAtMs: () => [...backAtMs.values()],
});
