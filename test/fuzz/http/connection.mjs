// A client on a plain socket: it sends any bytes, and parses responses strictly by RFC 9112.
import { connect } from 'node:net';

/** The delay before the client ends an incomplete request. */
const suspenseMs = 50;

/**
 * The outcome of a request.
 * @typedef {{ kind: 'answer', status: number, headers: [string, string][], body: Buffer, isLeftover: boolean }
 *   | { kind: 'broken', text: string } | { kind: 'closed' } | { kind: 'hangs' }} Outcome
 */

/** One connection after the other, each open until the server closes it. */
export class Connection {
  #port;
  #patienceMs;
  #current;
  #socket;
  #received = Buffer.alloc(0);
  #wake = () => undefined;

  /** @param current stores the last sent request, by the two ports of its connection */
  constructor(port, current, patienceMs) {
    this.#port = port;
    this.#patienceMs = patienceMs;
    this.#current = current;
  }

  /**
   * Sends one request. Interim responses (1xx) are skipped.
   * @returns {Promise<Outcome>}
   */
  async send(request) {
    const { bytes, isWhole, isHead } = request;
    const socket = await this.#open();
    this.#current.set(`${this.#port} ${socket.localPort}`, request);
    socket.write(bytes);
    const deadline = performance.now() + this.#patienceMs;
    let hasEnded = isWhole;
    for (;;) {
      const answer = readAnswer(this.#received, { isHead, isOver: socket.destroyed || socket.readableEnded });
      if (answer === 'broken') return this.#closeWith({ kind: 'broken', text: this.#received.toString('latin1') });
      if (answer?.isInterim) this.#received = this.#received.subarray(answer.length);
      else if (answer) return this.#answered(answer, isWhole);
      else if (socket.destroyed || socket.readableEnded) return this.#closeWith({ kind: 'closed' });
      else if (performance.now() > deadline) return this.#closeWith({ kind: 'hangs' });
      else if (await this.#more(hasEnded ? deadline - performance.now() : suspenseMs)) continue;
      else if (!hasEnded) {
        hasEnded = true;
        socket.end();
      }
    }
  }

  close() {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#received = Buffer.alloc(0);
  }

  #closeWith(outcome) {
    this.close();
    return outcome;
  }

  #answered(answer, isWhole) {
    this.#received = this.#received.subarray(answer.length);
    const isLeftover = this.#received.length > 0;
    // After an incomplete request or a surplus response the meaning of further bytes is unknown.
    if (!isWhole || answer.isLast || isLeftover) this.close();
    return { kind: 'answer', ...answer, isLeftover: isLeftover && isWhole };
  }

  async #open() {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable && !this.#socket.readableEnded)
      return this.#socket;
    this.close();
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    socket.on('data', (chunk) => {
      if (this.#socket === socket)
        this.#received = this.#received.length > 0 ? Buffer.concat([this.#received, chunk]) : chunk;
      this.#wake(true);
    });
    socket.on('error', () => undefined);
    for (const event of ['end', 'close']) socket.on(event, () => this.#wake(true));
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    return socket;
  }

  #more(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), Math.max(1, ms));
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

/** The response once it is complete, undefined before, or 'broken' if it is invalid. */
function readAnswer(bytes, { isHead, isOver }) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return isOver && bytes.length > 0 ? 'broken' : undefined;
  const [first, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d)(?: [\x20-\x7e]*)?$/.exec(first)?.[1]);
  if (!status) return 'broken';
  const headers = lines.map((line) => /^([!#$%&'*+.^_`|~\w-]+): ?(.*)$/.exec(line)?.slice(1));
  if (headers.some((header) => !header)) return 'broken';
  const head = {
    status,
    headers,
    isInterim: status < 200,
    isLast: /\r\nconnection: close/i.test(bytes.subarray(0, end + 2).toString('latin1')),
  };
  const body = readBody(bytes.subarray(end + 4), { ...head, isHead, isOver });
  if (body === undefined || body === 'broken') return body;
  return { ...head, ...body, length: end + 4 + body.length };
}

function readBody(bytes, { status, headers, isHead, isOver }) {
  const fieldOf = (name) => headers.find(([one]) => one.toLowerCase() === name)?.[1];
  if (isHead || status < 200 || status === 204 || status === 304) return { body: '', length: 0 };
  // An event stream counts as answered with its head; its body is ignored.
  if (/^text\/event-stream/.test(fieldOf('content-type') ?? ''))
    return { body: '', length: bytes.length, isLast: true };
  if (fieldOf('transfer-encoding') === 'chunked') return readChunks(bytes, isOver);
  const length = Number(fieldOf('content-length') ?? Number.NaN);
  if (Number.isNaN(length)) return isOver ? { body: bytes.toString(), length: bytes.length } : undefined;
  if (bytes.length >= length) return { body: bytes.subarray(0, length), length };
  return isOver ? 'broken' : undefined;
}

function readChunks(bytes, isOver) {
  const chunks = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = end === -1 ? Number.NaN : Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (Number.isNaN(size) || bytes.length < end + 2 + size + 2) return isOver ? 'broken' : undefined;
    if (size === 0) return { body: Buffer.concat(chunks), length: end + 4 };
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
