import { connect } from 'node:net';

/** Other headers that a browser sends. */
const browserHeaders = {
  Host: 'shop.example',
  Connection: 'keep-alive',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  Accept: '*/*',
  Origin: 'http://shop.example',
  'Sec-Fetch-Site': 'same-origin',
  'Sec-Fetch-Mode': 'cors',
  'Accept-Encoding': 'gzip, deflate, br',
  'Accept-Language': 'en',
};

/** The bytes of a request from a browser. */
export function requestBytes({ method = 'GET', path, body = '', headers = {} }) {
  const all = { ...browserHeaders, ...headers };
  if (method === 'POST') Object.assign(all, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** One keep-alive connection with at most one active request. It uses a plain socket, which needs little CPU. */
export class Connection {
  #socket;
  #received = '';
  #onResponse = () => undefined;

  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => this.#receive(text));
    this.#socket.on('close', () => this.#onResponse(undefined));
    this.#socket.on('error', () => undefined);
  }

  /** @returns the response; undefined if the connection is closed */
  send(bytes) {
    return new Promise((resolve) => {
      this.#onResponse = resolve;
      if (this.#socket.destroyed) resolve(undefined);
      else this.#socket.write(bytes);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(text) {
    this.#received = this.#received === '' ? text : this.#received + text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0;
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    const response = this.#received;
    this.#received = '';
    this.#onResponse(response);
  }
}

/** Whether a response of a {@link Connection} has this status. */
export function hasStatus(response, status) {
  return response?.startsWith(`HTTP/1.1 ${status} `) ?? false;
}

/** Sorts latencies in place. @returns the 50th and the 99th percentile */
export function percentilesOf(latenciesMs) {
  const sorted = latenciesMs.sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)];
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
