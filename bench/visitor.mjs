import { connect } from 'node:net';

/** What a browser sends besides. */
const usualHeaders = {
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

/** The bytes of a request as a browser sends it. */
export function bytesOf({ method = 'GET', path, body = '', headers = {} }) {
  const all = { ...usualHeaders, ...headers };
  if (method === 'POST') Object.assign(all, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** One connection, which has at most one request under way. A bare socket, so that it is the server that is busy. */
export class Visitor {
  #socket;
  #kept = '';
  #answered = () => undefined;

  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => this.#take(text));
    this.#socket.on('close', () => this.#answered(undefined));
    this.#socket.on('error', () => undefined);
  }

  /** Gives the answer; undefined where there is none. */
  ask(bytes) {
    return new Promise((resolve) => {
      this.#answered = resolve;
      if (this.#socket.destroyed) resolve(undefined);
      else this.#socket.write(bytes);
    });
  }

  leave() {
    this.#socket.destroy();
  }

  #take(text) {
    this.#kept = this.#kept === '' ? text : this.#kept + text;
    const headEnd = this.#kept.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#kept)?.[1] ?? 0;
    if (this.#kept.length < headEnd + 4 + Number(length)) return;
    const answer = this.#kept;
    this.#kept = '';
    this.#answered(answer);
  }
}

/** Whether an answer of a visitor has this status. */
export function hasStatus(answer, status) {
  return answer?.startsWith(`HTTP/1.1 ${status} `) ?? false;
}

/** Sorts the latencies of a window, and gives what half of them and all but a hundredth stay below. */
export function percentilesOf(latenciesMs) {
  const sorted = latenciesMs.sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)];
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
