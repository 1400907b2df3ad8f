// The browsers of the benchmark: connections that ask again as soon as they are answered. Bare sockets, so that it is the
// server that is busy, and not they. Driven by messages from its parent.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import bs58 from 'bs58';

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

/** The bytes of the requests, to be sent in turn: as many as there are ids to ask for. */
function bytesOf({ method = 'GET', path, body = '', ids = 1, headers = {} }) {
  const all = { ...usualHeaders, ...headers };
  if (method === 'POST') Object.assign(all, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  const rest = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Array.from({ length: ids }, () => {
    const target = path.replace(':id', () => bs58.encode(randomBytes(32)));
    return Buffer.from(`${method} ${target} HTTP/1.1\r\n${rest.join('')}\r\n${body}`);
  });
}

/** One connection, which has at most one request under way. */
class Visitor {
  #socket;
  #expected;
  #kept = '';
  #answered = () => undefined;

  constructor(port, expected) {
    this.#expected = `HTTP/1.1 ${expected} `;
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

  isExpected(answer) {
    return answer?.startsWith(this.#expected) ?? false;
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

let visitors = [];
let requests = [];
let turn = 0;
const next = () => requests[turn++ % requests.length];

const answers = {
  /** Connects, and has each connection answered once. Gives one of the answers. */
  open: async ({ port, connections, request }) => {
    requests = bytesOf(request);
    visitors = Array.from({ length: connections }, () => new Visitor(port, request.status ?? 200));
    const [first] = await Promise.all(visitors.map((visitor) => visitor.ask(next())));
    return first;
  },
  /** Asks for so long, and then until all that was asked is answered. */
  run: async ({ ms }) => {
    const latenciesMs = [];
    let wrong = 0;
    const startedAtMs = performance.now();
    const endMs = startedAtMs + ms;
    const stay = async (visitor) => {
      for (let askedAtMs = performance.now(); askedAtMs < endMs; ) {
        const answer = await visitor.ask(next());
        const nowMs = performance.now();
        latenciesMs.push(nowMs - askedAtMs);
        askedAtMs = nowMs;
        if (visitor.isExpected(answer)) continue;
        wrong += 1;
        if (answer === undefined) return;
      }
    };
    await Promise.all(visitors.map(stay));
    const tookMs = performance.now() - startedAtMs;
    latenciesMs.sort((a, b) => a - b);
    const at = (share) => latenciesMs[Math.floor((latenciesMs.length - 1) * share)];
    return { requests: latenciesMs.length, wrong, tookMs, p50Ms: at(0.5), p99Ms: at(0.99) };
  },
  close: () => {
    for (const visitor of visitors.splice(0)) visitor.leave();
  },
};

process.on('message', async ({ n, ask, options }) => process.send({ n, answer: await answers[ask](options) }));
process.on('disconnect', () => process.exit());
