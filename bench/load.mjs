// The browsers of the benchmark: connections that ask again as soon as they are answered. Driven by messages from its
// parent.
import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { bytesOf, hasStatus, percentilesOf, Visitor } from './visitor.mjs';

/** The bytes of the requests, to be sent in turn: as many as there are ids to ask for. */
function requestsOf({ path, ids = 1, ...request }) {
  const target = () => path.replace(':id', () => bs58.encode(randomBytes(32)));
  return Array.from({ length: ids }, () => bytesOf({ ...request, path: target() }));
}

let visitors = [];
let requests = [];
let expected;
let turn = 0;
const next = () => requests[turn++ % requests.length];

const answers = {
  /** Connects, and has each connection answered once. Gives one of the answers. */
  open: async ({ port, connections, request }) => {
    requests = requestsOf(request);
    expected = request.status ?? 200;
    visitors = Array.from({ length: connections }, () => new Visitor(port));
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
        if (hasStatus(answer, expected)) continue;
        wrong += 1;
        if (answer === undefined) return;
      }
    };
    await Promise.all(visitors.map(stay));
    const tookMs = performance.now() - startedAtMs;
    return { requests: latenciesMs.length, wrong, tookMs, ...percentilesOf(latenciesMs) };
  },
  close: () => {
    for (const visitor of visitors.splice(0)) visitor.leave();
  },
};

process.on('message', async ({ n, ask, options }) => process.send({ n, answer: await answers[ask](options) }));
process.on('disconnect', () => process.exit());
