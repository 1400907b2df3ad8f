// The clients of bench/sse.mjs, many in one process: bare sockets that count events. Driven by messages.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import bs58 from 'bs58';

/** Connects made at a time: more would only wait in the server's backlog. */
const batch = 100;
const sockets = [];
const counts = { greeted: 0, delivered: 0, lost: 0 };
let lastAtMs = 0;

function listen(port, id) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('event: status\n') && text.includes('\n\n', text.indexOf('event: status\n'))) {
        counts.greeted += 1;
        text = text.slice(text.indexOf('\n\n', text.indexOf('event: status\n')));
        resolve();
      }
      if (/id: bench\ndata: .*\n\n/.test(text)) {
        counts.delivered += 1;
        lastAtMs = Date.now();
        text = '';
      }
    });
    socket.on('close', () => {
      counts.lost += 1;
    });
    socket.on('error', reject);
    socket.write(`GET /intent/${id}/events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n`);
    sockets.push(socket);
  });
}

const answers = {
  open: async ({ port, count, intents }) => {
    const ids = Array.from({ length: intents }, () => bs58.encode(randomBytes(32)));
    for (let opened = 0; opened < count; opened += batch) {
      const next = Array.from({ length: Math.min(batch, count - opened) }, (_, n) => ids[(opened + n) % ids.length]);
      await Promise.all(next.map((id) => listen(port, id)));
    }
  },
  counts: () => ({ ...counts, lastAtMs }),
  leave: () => {
    for (const socket of sockets.splice(0)) socket.removeAllListeners('close').destroy();
    Object.assign(counts, { greeted: 0, delivered: 0, lost: 0 });
  },
};

process.on('message', async ({ n, ask, options }) => {
  try {
    process.send({ n, answer: await answers[ask](options) });
  } catch (error) {
    process.send({
      n,
      error: error.code === 'EMFILE' ? 'Too few files may be open: raise `ulimit -n`.' : error.message,
    });
  }
});
process.on('disconnect', () => process.exit());
