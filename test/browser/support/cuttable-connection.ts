import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a sequencer whose connections can be cut. */
export interface CuttableConnection {
  /** The base_url of the proxy. */
  readonly url: string;
  cut(): void;
  restore(): void;
}

const closers: (() => Promise<void>)[] = [];

/** While cut, the proxy drops open connections and refuses new ones. */
export async function openCuttableConnection(sequencerUrl: string): Promise<CuttableConnection> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(new URL(sequencerUrl).port), '127.0.0.1');
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  closers.push(async () => {
    cut();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      isCut = false;
    },
  };
}

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});
