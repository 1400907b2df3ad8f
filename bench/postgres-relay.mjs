// A relay between a site and Postgres that counts statements and round trips.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const commandComplete = 'C'.charCodeAt(0);
const errorResponse = 'E'.charCodeAt(0);
const readyForQuery = 'Z'.charCodeAt(0);

/** Counts the statements that the server completes, and how often a client waits for the server. */
export class MessageCounter {
  statements = 0;
  roundTrips = 0;

  /** @returns what receives the chunks of one connection from the client and from the server */
  connection() {
    let [isWaiting, received] = [false, Buffer.alloc(0)];
    const receive = (type) => {
      if (type === commandComplete || type === errorResponse) this.statements += 1;
      if (type !== readyForQuery || !isWaiting) return;
      this.roundTrips += 1;
      isWaiting = false;
    };
    return {
      fromClient: () => {
        isWaiting = true;
      },
      fromServer: (chunk) => {
        received = Buffer.concat([received, chunk]);
        // A type, and a length that counts itself.
        while (received.length >= 5 && received.length > received.readUInt32BE(1)) {
          receive(received[0]);
          received = received.subarray(received.readUInt32BE(1) + 1);
        }
      },
    };
  }
}

/**
 * Starts a relay to a Postgres server that listens on a Unix socket.
 * @returns its URL, and the counts of all connections
 */
export async function startRelay(databaseUrl) {
  const target = new URL(databaseUrl.replace('@/', '@localhost/'));
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-relay-'));
  const name = '.s.PGSQL.5432';
  const counter = new MessageCounter();
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(path.join(target.searchParams.get('host'), name));
    const { fromClient, fromServer } = counter.connection();
    for (const [socket, other, count] of [
      [client, upstream, fromClient],
      [upstream, client, fromServer],
    ]) {
      sockets.add(socket);
      socket.on('data', (chunk) => {
        count(chunk);
        other.write(chunk);
      });
      socket.on('close', () => other.destroy());
      socket.on('error', () => other.destroy());
    }
  });
  server.listen(path.join(folder, name));
  await once(server, 'listening');
  return {
    url: databaseUrl.replace(target.searchParams.get('host'), folder),
    counts: () => ({ statements: counter.statements, roundTrips: counter.roundTrips }),
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
