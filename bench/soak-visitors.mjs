// The browsers of bench/soak.mjs: each creates a payment, asks for its status, and begins anew. Driven by messages.
import { parseClientSecret } from '../build/intents/payload.js';
import { intentIdOf, rendezvousKeyPair } from '../build/intents/rendezvous.js';
import { bytesOf, hasStatus, percentilesOf, Visitor } from './visitor.mjs';

const creation = bytesOf({ method: 'POST', path: '/intent', body: '{"mode":"payment","order":42}' });
const secretOf = (answer) => /"client_secret":"(\w+)"/.exec(answer)[1];
const question = (secret) => bytesOf({ path: `/status/${intentIdOf(rendezvousKeyPair(parseClientSecret(secret)))}` });

/** Asks, and notes how long the answer took. @throws {Error} when it is not the one that is expected */
async function ask(visitor, bytes, expected, latenciesMs) {
  const askedAtMs = performance.now();
  const answer = await visitor.ask(bytes);
  latenciesMs.push(performance.now() - askedAtMs);
  if (!hasStatus(answer, expected)) throw new Error(`Not ${expected}, but: ${answer?.slice(0, 200) ?? 'no answer'}`);
  return answer;
}

let visitors = [];

const answers = {
  open: ({ port, connections }) => {
    visitors = Array.from({ length: connections }, () => new Visitor(port));
  },
  /** Has so many payments created, and the status of each asked for once. */
  run: async ({ count }) => {
    const [createMs, statusMs] = [[], []];
    let left = count;
    const stay = async (visitor) => {
      while (left > 0) {
        left -= 1;
        const created = await ask(visitor, creation, 201, createMs);
        await ask(visitor, question(secretOf(created)), 200, statusMs);
      }
    };
    await Promise.all(visitors.map(stay));
    return { created: createMs.length, create: percentilesOf(createMs), status: percentilesOf(statusMs) };
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
