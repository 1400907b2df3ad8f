// The customers of a fleet: so many a second, each at the next process in turn. Driven by messages from its parent.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import bs58 from 'bs58';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../build/intents/payload.js';
import { randomBytes } from '../build/keys/random-bytes.js';
import { answerParent } from './answer-parent.mjs';
import { bytesOf, hasStatus, percentilesOf, Visitor } from './visitor.mjs';

/** As the button asks: each with a key of its own, so that a repeat would be known. */
const begin = (body, headers = {}) =>
  bytesOf({ method: 'POST', path: '/intent', body, headers: { ...headers, 'Idempotency-Key': randomUUID() } });
const secretOf = (answer) => /"client_secret":"(\w+)"/.exec(answer)[1];
const cookiesOf = (answer) => [...answer.matchAll(/^set-cookie: ([^;]+)/gim)].map(([, cookie]) => cookie).join('; ');

/** What one customer does. @returns whether all was answered as it should be */
const visits = {
  payment: async (visitor) => hasStatus(await visitor.ask(begin('{"mode":"payment","order":42}')), 201),
  /** A login, begun and completed. */
  login: async (visitor) => {
    const begun = await visitor.ask(begin('{"mode":"login"}'));
    if (!hasStatus(begun, 201)) return false;
    const id = intentIdOf(rendezvousKeyPair(parseClientSecret(secretOf(begun))));
    const headers = { Cookie: cookiesOf(begun) };
    return hasStatus(
      await visitor.ask(bytesOf({ method: 'POST', path: '/session', body: JSON.stringify({ id }), headers })),
      200,
    );
  },
  /** Of an intent that was not requested lately. */
  status: async (visitor) =>
    hasStatus(await visitor.ask(bytesOf({ path: `/status/${bs58.encode(randomBytes(32))}` })), 200),
};

/** The visitors that are free, one list for each process. */
let free = [];

const answers = {
  open: ({ ports, connections }) => {
    free = ports.map((port) => Array.from({ length: connections }, () => new Visitor(port)));
  },
  /** For so long, so many a second over all processes; without a number as many as there are connections for. */
  run: async ({ work, ms, perSecond = Number.POSITIVE_INFINITY }) => {
    const visit = visits[work];
    const latenciesMs = [];
    const running = new Set();
    let [begun, wrong] = [0, 0];
    const begunAtMs = performance.now();
    for (let nowMs = begunAtMs; nowMs < begunAtMs + ms; nowMs = performance.now()) {
      const due = Math.min(((nowMs - begunAtMs) / 1_000) * perSecond, begun + 1_000);
      for (; begun < due; begun += 1) {
        const visitors = free[begun % free.length];
        const visitor = visitors.pop();
        // All of this process's are busy: it is the turn of the next as soon as it answers.
        if (!visitor) break;
        const askedAtMs = performance.now();
        const visiting = visit(visitor)
          .catch(() => false)
          .then((isRight) => {
            if (!isRight) wrong += 1;
            latenciesMs.push(performance.now() - askedAtMs);
            visitors.push(visitor);
            running.delete(visiting);
          });
        running.add(visiting);
      }
      await wait(1);
    }
    await Promise.all(running);
    const tookMs = performance.now() - begunAtMs;
    return { requests: latenciesMs.length, wrong, tookMs, ...percentilesOf(latenciesMs) };
  },
  close: () => {
    for (const visitor of free.splice(0).flat()) visitor.leave();
  },
};

answerParent(answers);
