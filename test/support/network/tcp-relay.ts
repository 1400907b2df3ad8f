import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a server, with faults. */
export interface TcpRelay {
  readonly port: number;
  /** The number of connections. */
  readonly open: number;
  /** Cuts all connections. */
  cut(): void;
  /** Cuts each connection that is open now when it is next used, like a firewall that has forgotten it. */
  forget(): void;
  /**
   * Cuts a connection once when the client sends these bytes: `before` they reach the server, or `after` it has responded,
   * without the response. With `andSever` it also cuts all others, as `sever` does.
   */
  cutAt(bytes: string, when: 'before' | 'after', andSever?: boolean): void;
  /** Stops all traffic in both directions without closing connections, like a dead network. */
  freeze(): void;
  /** Relays new connections; those from before the freeze stay dead. */
  thaw(): void;
  /** Cuts all connections, and every new one at once, until `restore`. */
  sever(): void;
  restore(): void;
}

const relays: (() => Promise<unknown>)[] = [];

/** Starts a relay to a server at the path of a Unix socket or at a port, until the end of the test file. */
export async function startRelay(server: string | number): Promise<TcpRelay> {
  const clients = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let trap: { readonly bytes: string; readonly when: 'before' | 'after'; readonly andSever: boolean } | undefined;
  /** Functions that end the server side of dead connections. */
  const dead: (() => void)[] = [];
  let isFrozen = false;
  let isSevered = false;

  const listener = createServer({ noDelay: true }, (client) => {
    if (isSevered) return void client.resetAndDestroy();
    const upstream = connect(typeof server === 'string' ? { path: server } : { host: '127.0.0.1', port: server });
    let isCutNext = false;
    let isSeverNext = false;
    let isDead = false;
    const die = (): void => {
      isDead = true;
      dead.push(() => upstream.destroy());
    };
    if (isFrozen) die();
    clients.add(client);
    client.once('close', () => clients.delete(client));
    client.once('freeze', die);
    const cut = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', cut).on('close', () => isDead || cut());
      from.on('data', (data) => {
        if (isDead) return;
        if (forgotten.has(client)) return cut();
        const when = from === client && trap && data.includes(trap.bytes) ? trap.when : undefined;
        if (when) {
          isSeverNext = trap?.andSever === true;
          trap = undefined;
        }
        if (isCutNext || when === 'before') {
          cut();
          if (isSeverNext) sever();
          return;
        }
        isCutNext = when === 'after';
        to.write(data);
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const client of clients) client.resetAndDestroy();
  };
  const sever = (): void => {
    isSevered = true;
    cutAll();
  };
  relays.push(async () => {
    cutAll();
    await new Promise((resolve) => listener.close(resolve));
  });
  return {
    port: (listener.address() as AddressInfo).port,
    get open() {
      return clients.size;
    },
    cut: cutAll,
    forget() {
      for (const client of clients) forgotten.add(client);
    },
    cutAt(bytes, when, andSever = false) {
      trap = { bytes, when, andSever };
    },
    freeze() {
      isFrozen = true;
      for (const client of clients) client.emit('freeze');
    },
    thaw() {
      isFrozen = false;
      for (const thaw of dead.splice(0)) thaw();
    },
    sever,
    restore() {
      isSevered = false;
    },
  };
}

afterAll(async () => {
  for (const close of relays.splice(0)) await close();
});
