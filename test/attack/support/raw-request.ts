import { connect } from 'node:net';

/** What a server has answered, as it came. */
export interface RawAnswer {
  /** 0 where there was no answer. */
  readonly status: number;
  /** The lines of the head after the first, as they came. */
  readonly head: readonly string[];
  readonly body: string;
}

/** Sends these very bytes on a socket of their own, and reads until the server lets go of it. */
export function sendRaw(origin: string, bytes: string | Buffer, timeoutMs = 60_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`The server has neither answered nor let go within ${timeoutMs} ms: ${text.slice(0, 200)}`));
    }, timeoutMs);
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    // Whoever is cut off has read all that there is to be read.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(parse(text));
    });
    socket.on('connect', () => socket.write(bytes));
  });
}

/** A request with these header lines and no other, but for `Connection: close`. */
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
