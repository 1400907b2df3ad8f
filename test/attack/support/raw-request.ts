import { connect } from 'node:net';

/** A response as received. */
export interface RawAnswer {
  /** 0 without a response. */
  readonly status: number;
  /** The lines of the head after the first. */
  readonly head: readonly string[];
  readonly body: string;
}

/** Sends bytes on a new socket and reads until the server closes it. */
export function sendRaw(origin: string, bytes: string | Buffer, timeoutMs = 60_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(`The server has not closed the connection within ${timeoutMs} ms. Received: ${text.slice(0, 200)}`),
      );
    }, timeoutMs);
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    // After a reset all readable bytes have been read.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(parse(text));
    });
    socket.on('connect', () => socket.write(bytes));
  });
}

/** A request with only these header lines and `Connection: close`. */
export function rawRequest(method: string, target: string, headers: readonly string[], body = ''): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body)]);
}

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...head] = text.slice(0, end === -1 ? undefined : end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  return { status, head, body: end === -1 ? '' : text.slice(end + 4) };
}
