import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

// Sends each request to the next process, without sticky sessions. It prints its address, then reads the ports of the processes
// as lines of JSON, and responds to each with the number of 5xx responses so far, by status.

let ports: readonly number[] = [];
let turn = 0;
const failures: Record<number, number> = {};
const note = (status: number): void => {
  failures[status] = (failures[status] ?? 0) + 1;
};

const server = createServer((req, res) => {
  const port = ports[turn++ % ports.length];
  // A new connection for each request: a kept one could be closed by its process while it is reused.
  const forwarded = { 'x-forwarded-for': req.socket.remoteAddress, 'x-forwarded-proto': 'http', connection: 'close' };
  const headers = { ...req.headers, ...forwarded };
  const options = { host: '127.0.0.1', port, path: req.url, method: req.method, headers, agent: false };
  const upstream = request(options, (answer) => {
    const { statusCode = 502 } = answer;
    if (statusCode >= 500) note(statusCode);
    // The connection headers of a process are for the balancer, not for the client.
    const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _coding, ...rest } = answer.headers;
    res.writeHead(statusCode, rest);
    answer.pipe(res);
    answer.on('error', () => res.destroy());
  });
  upstream.on('error', () => {
    if (res.destroyed) return;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    note(502);
    res.writeHead(502).end();
  });
  res.on('close', () => upstream.destroy());
  req.pipe(upstream);
}).listen(0, '127.0.0.1');
// A customer must not reuse a connection that is being closed.
server.keepAliveTimeout = 3_600_000;
await once(server, 'listening');
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));

for await (const line of createInterface({ input: process.stdin })) {
  const order: { ports?: readonly number[] } = JSON.parse(line);
  ports = order.ports ?? ports;
  console.log(JSON.stringify(failures));
}
