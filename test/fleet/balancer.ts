import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer that hands each request to the next process, whoever asks: no sticky sessions. */
export interface Balancer {
  readonly origin: string;
  /** The ports of the processes; may change at any time. */
  use(ports: readonly number[]): void;
  /** How many answers of 5xx have gone through it, by status. */
  readonly failures: ReadonlyMap<number, number>;
}

const servers: Server[] = [];

export async function startBalancer(): Promise<Balancer> {
  let ports: readonly number[] = [];
  let turn = 0;
  const failures = new Map<number, number>();
  const server = createServer((req, res) => {
    const port = ports[turn++ % ports.length];
    const headers = { ...req.headers, 'x-forwarded-for': req.socket.remoteAddress, 'x-forwarded-proto': 'http' };
    const upstream = request({ host: '127.0.0.1', port, path: req.url, method: req.method, headers }, (answer) => {
      const { statusCode = 502 } = answer;
      if (statusCode >= 500) failures.set(statusCode, (failures.get(statusCode) ?? 0) + 1);
      res.writeHead(statusCode, answer.rawHeaders);
      answer.pipe(res);
    });
    upstream.on('error', () => {
      failures.set(502, (failures.get(502) ?? 0) + 1);
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end();
    });
    res.on('close', () => upstream.destroy());
    req.pipe(upstream);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (given) => {
      ports = given;
    },
    failures,
  };
}

afterAll(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
