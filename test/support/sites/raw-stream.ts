import { connect, type Socket } from 'node:net';
import { eventually } from '../eventually.js';

const open: Socket[] = [];

/** A client on a plain socket, which sees the raw bytes. */
export class RawStream {
  readonly socket: Socket;
  text = '';

  constructor(origin: string, path: string, headers: readonly string[] = []) {
    const { hostname, port } = new URL(origin);
    this.socket = connect(Number(port), hostname);
    open.push(this.socket);
    this.socket.setEncoding('latin1').on('data', (chunk) => {
      this.text += chunk;
    });
    // The server may close the connection silently.
    this.socket.on('error', () => undefined);
    this.request(path, headers);
  }

  request(path: string, headers: readonly string[] = []): void {
    this.socket.write(
      ['GET ', path, ' HTTP/1.1\r\n', ...['Host: site', ...headers].map((line) => `${line}\r\n`), '\r\n'].join(''),
    );
  }

  has(text: string): Promise<void> {
    return eventually(`${JSON.stringify(text)} in ${JSON.stringify(this.text.slice(-500))}`, () =>
      this.text.includes(text),
    );
  }

  /** The head of the response, in lower case. */
  get head(): string {
    return (this.text.split('\r\n\r\n', 1)[0] ?? '').toLowerCase();
  }

  /** The body so far, without chunk lengths. */
  get body(): string {
    const chunks = this.text.slice(this.text.indexOf('\r\n\r\n') + 4);
    return chunks.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n/g, '');
  }
}

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
