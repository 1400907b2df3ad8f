// The browsers of bench/soak.mjs: each creates a payment, reads its status, and repeats. Driven by messages.
import { setTimeout } from 'node:timers/promises';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../build/intents/payload.js';
import { bytesOf, hasStatus, percentilesOf, Visitor } from './visitor.mjs';

const creation = bytesOf({ method: 'POST', path: '/intent', body: '{"mode":"payment","order":42}' });
const secretOf = (answer) => /"client_secret":"(\w+)"/.exec(answer)[1];
const question = (secret) => bytesOf({ path: `/status/${intentIdOf(rendezvousKeyPair(parseClientSecret(secret)))}` });

/** Asks until it has the answer that is expected, and notes how long that one took. @throws {Error} where there is none */
async function ask(visitor, bytes, expected, { latenciesMs, refusals }) {
  for (;;) {
    const askedAtMs = performance.now();
    const answer = await visitor.ask(bytes);
    if (hasStatus(answer, expected)) {
      latenciesMs.push(performance.now() - askedAtMs);
      return answer;
    }
    // On a machine that is busy with other things a service may seem to be down for some seconds.
    if (!hasStatus(answer, 503) && !hasStatus(answer, 504)) throw new Error(`Not ${expected}, but: ${answer}`);
    refusals.count += 1;
    await setTimeout(1_000);
  }
}

let visitors = [];

const answers = {
  open: ({ port, connections }) => {
    visitors = Array.from({ length: connections }, () => new Visitor(port));
  },
  /** Has so many payments created, and the status of each asked for once. */
  run: async ({ count }) => {
    const [createMs, statusMs, refusals] = [[], [], { count: 0 }];
    let left = count;
    const stay = async (visitor) => {
      while (left > 0) {
        left -= 1;
        const created = await ask(visitor, creation, 201, { latenciesMs: createMs, refusals });
        await ask(visitor, question(secretOf(created)), 200, { latenciesMs: statusMs, refusals });
      }
    };
    await Promise.all(visitors.map(stay));
    const refused = refusals.count;
    return { created: createMs.length, refused, create: percentilesOf(createMs), status: percentilesOf(statusMs) };
  },
};

process.on('message', async ({ n, ask: name, options }) => {
  try {
    process.send({ n, answer: await answers[name](options) });
  } catch (error) {
    process.send({ n, error: error.message });
  }
});
process.on('disconnect', () => process.exit());
