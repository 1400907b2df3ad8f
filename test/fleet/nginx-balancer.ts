import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exampleFolder, exampleSite, freePort, Nginx } from '../support/network/nginx.js';
import type { Balancer } from './balancer.js';

const running: Nginx[] = [];

/** A real nginx as the balancer of a fleet, configured and reloaded as in docs/examples/nginx. */
export async function startNginxBalancer(): Promise<Balancer> {
  const [port, plainPort] = [await freePort(), await freePort()];
  let nginx: Nginx | undefined;
  return {
    origin: `http://127.0.0.1:${port}`,
    detectsFailures: true,
    use: async (ports) => {
      // A restarted process keeps its port.
      if (nginx) return;
      const processes = ports.map((each) => `127.0.0.1:${each}`);
      nginx = await Nginx.start(exampleSite({ port, plainPort, processes }), port);
      running.push(nginx);
    },
    without: async (out, restart) => {
      if (!nginx) throw new Error('nginx has no processes yet.');
      const env = { ...process.env, ...nginx.environment, SITE: nginx.siteFile };
      const control = await commandThat(restart);
      const script = [join(exampleFolder, 'restart.sh'), String(out), ...control.command];
      await promisify(execFile)('sh', script, { env }).finally(control.end);
    },
    failures: async () => {
      const failures: Record<number, number> = {};
      for (const line of nginx?.log() ?? []) {
        const status = Number.parseInt(line, 10);
        if (status >= 500) failures[status] = (failures[status] ?? 0) + 1;
      }
      return failures;
    },
  };
}

/** A shell command that runs a function of this process and waits for it. */
async function commandThat(work: () => Promise<void>): Promise<{ command: string[]; end(): void }> {
  const server = createServer((_req, res) => {
    work().then(
      () => res.end(),
      (error: Error) => res.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { command: ['curl', '--fail', '--silent', `http://127.0.0.1:${port}/`], end: () => void server.close() };
}

afterAll(async () => {
  for (const nginx of running.splice(0)) await nginx.end();
});
