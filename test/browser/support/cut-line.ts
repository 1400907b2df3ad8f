import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** The line to a sequencer, which can be cut and mended. */
export interface Line {
  /** base_url at this end of the line. */
  readonly url: string;
  cut(): void;
  mend(): void;
}

const closers: (() => Promise<void>)[] = [];

/** Lays a line to a sequencer. While it is cut, connections are refused and those there were are gone. */
export async function layLine(sequencerUrl: string): Promise<Line> {
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
    mend: () => {
      isCut = false;
    },
  };
}

afterAll(async () => {
  for (const close of closers.splice(0)) await close();
});
