import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import path from 'node:path';
import { openPostgres } from '../../../../src/ledger/database/postgres/postgres.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';

/** A message of the Postgres protocol from the server: a letter, its length and its content. */
function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const authenticationOk = message('R', Buffer.alloc(4));
const readyForQuery = message('Z', Buffer.from('I'));
const shutDown = message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'));

describe('the connection pool', () => {
  let server: Server;
  afterEach(() => server.close());

  it('survives a connection that ends while it is handed over', async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([authenticationOk, readyForQuery, shutDown])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const db = await openPostgres({ url: `postgres://shop@127.0.0.1:${port}/shop` });
    await expect(db.query('select 1')).rejects.toMatchObject({ code: 'ledger_unavailable' });
    await db.close();
  });

  it('survives a certificate of the URL that is missing when a connection is opened', async () => {
    const file = path.join(temporaryFolder(), 'root.crt');
    writeFileSync(file, '');
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      // The file is deleted between the first connections and those that wait for them.
      socket.once('data', () => {
        rmSync(file, { force: true });
        socket.end('N');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const db = await openPostgres({ url: `postgres://shop@127.0.0.1:${port}/shop?sslrootcert=${file}` });
    const calls = await Promise.all(Array.from({ length: 12 }, () => db.query('select 1').catch((error) => error)));
    for (const error of calls) expect(error).toMatchObject({ code: 'ledger_unavailable' });
    expect(calls.map(({ message }) => message)).toEqual([
      ...Array.from({ length: 10 }, () => expect.stringMatching(/does not support SSL.* Remove sslmode/)),
      ...Array.from({ length: 2 }, () => expect.stringMatching(/ENOENT.* Restore the file/)),
    ]);
    // Later the database stops responding, which ends all sockets with an error.
    writeFileSync(file, '');
    server.removeAllListeners('connection').on('connection', (socket) => socket.on('error', () => undefined));
    await expect(db.query('select 1')).rejects.toMatchObject({
      message: expect.stringContaining('the database stopped responding'),
    });
    await db.close();
  });
});
