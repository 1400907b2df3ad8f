// Clients of event streams, many in one process.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import bs58 from 'bs58';
import { handleCalls } from './process.mjs';

/** Connections that are opened together. More would only wait in the backlog of the server. */
const batch = 100;
const sockets = [];
const counts = { delivered: 0, lost: 0 };
let lastAtMs = 0;

function request(port, id) {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('latin1');
  socket.write(`GET /intent/${id}/events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n`);
  return socket;
}

/** Opens a stream and counts its events. Resolves at the first event, `status`. */
function listen(port, id) {
  return new Promise((resolve, reject) => {
    const socket = request(port, id);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (/^HTTP\/1.1 [345]/.test(text)) reject(new Error(`The stream was refused: ${text}`));
      const statusAt = text.indexOf('event: status\n');
      if (statusAt >= 0 && text.includes('\n\n', statusAt)) {
        text = text.slice(text.indexOf('\n\n', statusAt));
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
    socket.on('error', (error) =>
      reject(error.code === 'EMFILE' ? new Error('The limit of open files is too low. Raise `ulimit -n`.') : error),
    );
    sockets.push(socket);
  });
}

/** By intent id, the time of the first event since the last call of `begin`. */
const connectedAtMs = new Map();

/** Like an EventSource: reconnects after the last `retry` it received. */
function listenAndReconnect(port, id) {
  let retryMs = 3_000;
  const open = () => {
    const socket = request(port, id);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      const retry = /^retry: (\d+)$/m.exec(text);
      if (retry) retryMs = Number(retry[1]);
      if (!/^event: status$/m.test(text)) return;
      if (!connectedAtMs.has(id)) connectedAtMs.set(id, Date.now());
      text = '';
    });
    socket.on('error', () => undefined);
    socket.on('close', () => setTimeout(open, retryMs));
  };
  open();
}

const newIds = (count) => Array.from({ length: count }, () => bs58.encode(randomBytes(32)));

handleCalls({
  open: async ({ port, count, intents }) => {
    const ids = newIds(intents);
    for (let opened = 0; opened < count; opened += batch) {
      const next = Array.from({ length: Math.min(batch, count - opened) }, (_, n) => ids[(opened + n) % ids.length]);
      await Promise.all(next.map((id) => listen(port, id)));
    }
  },
  counts: () => ({ ...counts, lastAtMs }),
  close: () => {
    for (const socket of sockets.splice(0)) socket.removeAllListeners('close').destroy();
    Object.assign(counts, { delivered: 0, lost: 0 });
  },
  openReconnecting: ({ port, count }) => {
    for (const id of newIds(count)) listenAndReconnect(port, id);
  },
  begin: () => connectedAtMs.clear(),
  connectedAtMs: () => [...connectedAtMs.values()],
});
