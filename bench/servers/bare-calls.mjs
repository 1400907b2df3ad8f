// Calls to the sequencer over bare sockets, one at a time on each: the least that a call over HTTP can cost.
import { connect } from 'node:net';

export function bareCalls(url) {
  const { hostname, port, host } = new URL(url);
  const idle = [];

  function open() {
    const line = { socket: connect({ host: hostname, port, noDelay: true }), done: undefined, kept: undefined };
    line.socket.on('data', (chunk) => take(line, chunk));
    line.socket.on('error', () => undefined);
    line.socket.on('close', () => line.done?.(undefined));
    return line;
  }

  function take(line, chunk) {
    const bytes = line.kept ? Buffer.concat([line.kept, chunk]) : chunk;
    const headEnd = bytes.indexOf('\r\n\r\n');
    const length = headEnd < 0 ? Infinity : Number(/content-length: (\d+)/i.exec(bytes.latin1Slice(0, headEnd))[1]);
    if (bytes.length < headEnd + 4 + length) {
      line.kept = bytes;
      return;
    }
    const { done } = line;
    line.kept = line.done = undefined;
    idle.push(line);
    done(bytes.subarray(headEnd + 4));
  }

  /** Calls `done` with the envelope; with undefined where the connection broke. */
  return (body, done) => {
    const line = idle.pop() ?? open();
    line.done = done;
    const head = `POST /v1/api HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`;
    line.socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  };
}
