import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

// A pooler between a client and Postgres like pgbouncer in transaction mode: a client has a server connection for one
// transaction, and the next may run on another. Like pgbouncer it rejects unknown startup parameters
// (https://www.pgbouncer.org/config.html, ignore_startup_parameters).

/** The parameters that pgbouncer tracks. */
const known = new Set([
  'user',
  'database',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
  'application_name',
]);

/** Messages: one byte for the kind, four for the length without it, and the rest. */
class Messages {
  #bytes = Buffer.alloc(0);

  *add(data: Buffer, isFirst = false): Generator<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    // The first message of a client has no kind.
    const head = isFirst ? 0 : 1;
    while (this.#bytes.length >= head + 4) {
      const length = head + this.#bytes.readInt32BE(head);
      if (this.#bytes.length < length) return;
      yield this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
    }
  }
}

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const text = (...parts: string[]): Buffer => Buffer.from(parts.map((part) => `${part}\0`).join(''));
const ready = message('Z', Buffer.from('I'));
/** The process id and the key for a cancel request. A pooler has its own. */
const keyOfPooler = message('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]));

interface Backend {
  readonly socket: Socket;
  readonly messages: Messages;
  client: Socket | undefined;
}

export interface TransactionPooler {
  readonly port: number;
  /** The rejected parameters. */
  readonly refused: string[];
  /** The number of transactions that ran on another connection than the previous one of the client. */
  readonly switches: number;
}

const poolers: (() => Promise<unknown>)[] = [];

/** Pools two connections to a Postgres on a Unix socket, alternating between them. */
export async function startPooler(socketPath: string, user: string, database: string): Promise<TransactionPooler> {
  const idle = await Promise.all([
    connectBackend(socketPath, user, database),
    connectBackend(socketPath, user, database),
  ]);
  const backends = [...idle];
  const refused: string[] = [];
  let switches = 0;

  for (const backend of backends) {
    backend.socket.on('data', (data: Buffer) => {
      for (const each of backend.messages.add(data)) {
        backend.client?.write(each);
        if (!each.equals(ready)) continue;
        backend.client = undefined;
        idle.push(backend);
      }
    });
  }
  const server = createServer({ noDelay: true }, (client) => {
    const messages = new Messages();
    let hasBegun = false;
    let last: Backend | undefined;
    client.on('error', () => undefined);
    client.on('data', (data: Buffer) => {
      for (const each of messages.add(data, !hasBegun)) {
        if (hasBegun) last = forward(each, client, last);
        else begin(each, client);
        hasBegun = true;
      }
    });
  });
  const begin = (startup: Buffer, client: Socket): void => {
    const names = startup
      .subarray(8)
      .toString()
      .split('\0')
      .filter((name, index) => index % 2 === 0 && name !== '');
    const unknown = names.filter((name) => !known.has(name));
    refused.push(...unknown);
    const [first] = unknown;
    if (first) client.end(message('E', text('SFATAL', 'C08P01', `Munsupported startup parameter: ${first}`, '')));
    else client.write(Buffer.concat([message('R', Buffer.alloc(4)), keyOfPooler, ready]));
  };
  const forward = (each: Buffer, client: Socket, last: Backend | undefined): Backend | undefined => {
    const isGoodbye = each.toString('latin1', 0, 1) === 'X';
    const current = last?.client === client ? last : isGoodbye ? undefined : idle.shift();
    if (isGoodbye || !current) {
      client.end();
      return undefined;
    }
    if (last && last !== current) switches += 1;
    current.client = client;
    current.socket.write(each);
    return current;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  poolers.push(() => {
    for (const { socket } of backends) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    port: (server.address() as AddressInfo).port,
    refused,
    get switches() {
      return switches;
    },
  };
}

async function connectBackend(socketPath: string, user: string, database: string): Promise<Backend> {
  const socket = connect(socketPath);
  const messages = new Messages();
  const parameters = Buffer.concat([Buffer.from([0, 3, 0, 0]), text('user', user, 'database', database, '')]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(parameters.length + 4);
  socket.write(Buffer.concat([length, parameters]));
  await new Promise<void>((resolve) => {
    const listen = (data: Buffer): void => {
      for (const each of messages.add(data)) {
        if (!each.equals(ready)) continue;
        socket.off('data', listen);
        resolve();
      }
    };
    socket.on('data', listen);
  });
  return { socket, messages, client: undefined };
}

afterAll(async () => {
  for (const close of poolers.splice(0)) await close();
});
