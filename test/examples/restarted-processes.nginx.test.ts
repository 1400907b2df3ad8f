import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { exampleFolder, exampleSite, freePort, Nginx } from '../support/network/nginx.js';

// nginx with the configuration and the script of docs/examples/nginx, and processes that restart.

let nginx: Nginx;
let origin: string;
let ports: [number, number];
const servers = new Map<number, Server>();

async function start(port: number): Promise<void> {
  const server = createServer((req, res) => {
    if (req.url === '/reset') req.socket.destroy();
    else res.end(String(port));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  servers.set(port, server);
}

async function stop(port: number): Promise<void> {
  const server = servers.get(port);
  servers.delete(port);
  if (!server) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

/** The status of requests by new clients. */
const statuses = (count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, async () => (await fetch(`${origin}/`)).status));
const only = (status: number, found: number[]): void => expect(new Set(found)).toEqual(new Set([status]));

beforeEach(async () => {
  ports = [await freePort(), await freePort()];
  for (const port of ports) await start(port);
  const port = await freePort();
  const processes = ports.map((each) => `127.0.0.1:${each}`);
  nginx = await Nginx.start(exampleSite({ port, plainPort: await freePort(), processes }), port);
  origin = `http://127.0.0.1:${port}`;
});
afterEach(async () => {
  await nginx.end();
  for (const port of ports) await stop(port);
});

test('nginx finds the process that runs when both have restarted within a few seconds', async () => {
  const [one, other] = ports;
  await stop(one);
  only(200, await statuses(10));
  await start(one);
  // After `fail_timeout`, in whole seconds, one of these requests shows nginx that the process is back.
  for (let count = 0; count < 12; count += 1) {
    await delay(250);
    only(200, await statuses(1));
  }
  await stop(other);
  only(200, await statuses(10));
});

test('a request that fails at both processes excludes none', async () => {
  only(502, [(await fetch(`${origin}/reset`)).status]);
  only(200, await statuses(10));
});

describe('restart.sh', () => {
  const run = (port: number, ...command: string[]) =>
    promisify(execFile)('sh', [join(exampleFolder, 'restart.sh'), String(port), ...command], {
      env: { ...process.env, ...nginx.environment, SITE: nginx.siteFile },
    });
  const textOf = (file: string): string => readFileSync(file, 'utf8');

  test('removes the process from nginx during the restart, and adds it again', async () => {
    const before = textOf(nginx.siteFile);
    const copy = `${nginx.siteFile}.during`;
    await run(ports[0], 'cp', nginx.siteFile, copy);
    expect(textOf(copy)).toContain(`server 127.0.0.1:${ports[0]} down max_fails=3 fail_timeout=1s;`);
    expect(textOf(copy)).toContain(`server 127.0.0.1:${ports[1]} max_fails=3 fail_timeout=1s;`);
    expect(textOf(nginx.siteFile)).toBe(before);
  });

  test('stops no process if only another upstream has others', async () => {
    writeFileSync(
      nginx.siteFile,
      `upstream images {\n    server 127.0.0.1:9;\n}\n${textOf(nginx.siteFile).replace(`:${ports[1]} `, `:${ports[1]} down `)}`,
    );
    const refused = { code: 1, stderr: expect.stringContaining('No other process') };
    await expect(run(ports[0], 'true')).rejects.toMatchObject(refused);
  });

  test('completes a restart that failed before, and stops no other process before that', async () => {
    const before = textOf(nginx.siteFile);
    const failed = { code: 1, stderr: expect.stringContaining('The command failed') };
    await expect(run(ports[0], 'false')).rejects.toMatchObject(failed);
    expect(textOf(nginx.siteFile)).toContain(' down ');
    const refused = { code: 1, stderr: expect.stringContaining('No other process') };
    await expect(run(ports[1], 'touch', `${nginx.siteFile}.restarted`)).rejects.toMatchObject(refused);
    expect(() => textOf(`${nginx.siteFile}.restarted`)).toThrow('ENOENT');
    await run(ports[0], 'true');
    expect(textOf(nginx.siteFile)).toBe(before);
  });

  test('restarts nothing at a port that is not in the configuration', async () => {
    const before = textOf(nginx.siteFile);
    const refused = run(1, 'touch', `${nginx.siteFile}.restarted`);
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('server 127.0.0.1:1') });
    expect(() => textOf(`${nginx.siteFile}.restarted`)).toThrow('ENOENT');
    expect(textOf(nginx.siteFile)).toBe(before);
  });
});
