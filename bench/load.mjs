// The clients of the benchmarks, in a separate process.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import bs58 from 'bs58';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../build/intents/payload.js';
import { Connection, hasStatus, percentilesOf, requestBytes } from './connection.mjs';
import { handleCalls } from './process.mjs';

const payment = '{"mode":"payment","order":42}';
const secretIn = (response) => /"client_secret":"(\w+)"/.exec(response)[1];
const idIn = (response) => intentIdOf(rendezvousKeyPair(parseClientSecret(secretIn(response))));
const cookiesIn = (response) =>
  [...response.matchAll(/^set-cookie: ([^;]+)/gim)].map(([, cookie]) => cookie).join('; ');
const create = (body, headers) => requestBytes({ method: 'POST', path: '/intent', body, headers });
/** Like the button: each request has its own key. */
const createWithKey = (body) => create(body, { 'Idempotency-Key': randomUUID() });

/** What one visitor does. @returns whether all responses are correct */
const visits = {
  payment: async (connection) => hasStatus(await connection.send(createWithKey(payment)), 201),
  /** Creates and completes a login. */
  login: async (connection) => {
    const created = await connection.send(createWithKey('{"mode":"login"}'));
    if (!hasStatus(created, 201)) return false;
    const body = JSON.stringify({ id: idIn(created) });
    const headers = { Cookie: cookiesIn(created) };
    return hasStatus(await connection.send(requestBytes({ method: 'POST', path: '/session', body, headers })), 200);
  },
  /** Of an intent that is not in a cache. */
  status: async (connection) =>
    hasStatus(await connection.send(requestBytes({ path: `/status/${bs58.encode(randomBytes(32))}` })), 200),
};

/**
 * The next request of a workload: always the same, or one of `ids` random ids in turn. With `keyed`, each has its own key, as from
 * the button.
 */
function requestSource({ path, ids = 1, keyed = false, ...request }) {
  if (keyed) return () => requestBytes({ ...request, path, headers: { 'Idempotency-Key': randomUUID() } });
  const target = () => path.replace(':id', () => bs58.encode(randomBytes(32)));
  const requests = Array.from({ length: ids }, () => requestBytes({ ...request, path: target() }));
  let turn = 0;
  return () => requests[turn++ % ids];
}

/** Sends a request until it has the expected response, and records the latency of that one. */
async function sendUntil(connection, bytes, status, { latenciesMs, retries }) {
  for (;;) {
    const sentAtMs = performance.now();
    const response = await connection.send(bytes);
    if (hasStatus(response, status)) {
      latenciesMs.push(performance.now() - sentAtMs);
      return response;
    }
    // On a busy machine calls to the service can time out for a few seconds.
    if (!hasStatus(response, 503) && !hasStatus(response, 504)) throw new Error(`Expected ${status}, got: ${response}`);
    retries.count += 1;
    await wait(1_000);
  }
}

/** The idle connections, one list for each server process. */
let idle = [];
let nextRequest;
let expectedStatus;

const sendNext = async (connection) => hasStatus(await connection.send(nextRequest()), expectedStatus);

handleCalls({
  /** Connects. With a `request`, each connection sends it once. */
  open: async ({ ports, connections, request }) => {
    idle = ports.map((port) => Array.from({ length: connections }, () => new Connection(port)));
    if (!request) return;
    nextRequest = requestSource(request);
    expectedStatus = request.status ?? 200;
    await Promise.all(idle.flat().map((connection) => connection.send(nextRequest())));
  },

  /** Closed loop: each connection sends the next request as soon as it has a response. */
  repeat: async ({ ms }) => {
    const latenciesMs = [];
    let wrong = 0;
    const startedAtMs = performance.now();
    const endMs = startedAtMs + ms;
    const loop = async (connection) => {
      for (let sentAtMs = performance.now(); sentAtMs < endMs; ) {
        const response = await connection.send(nextRequest());
        const nowMs = performance.now();
        latenciesMs.push(nowMs - sentAtMs);
        sentAtMs = nowMs;
        if (hasStatus(response, expectedStatus)) continue;
        wrong += 1;
        if (response === undefined) return;
      }
    };
    await Promise.all(idle.flat().map(loop));
    const tookMs = performance.now() - startedAtMs;
    return { requests: latenciesMs.length, wrong, tookMs, ...percentilesOf(latenciesMs) };
  },

  /**
   * Open loop: `perSecond` visits or requests in total, at each process in turn. Without a number, as many as possible. A latency
   * begins at the scheduled time, even if no connection is idle then.
   */
  pace: async ({ workload, ms, perSecond = Number.POSITIVE_INFINITY }) => {
    const visit = visits[workload] ?? sendNext;
    const total = Number.isFinite(perSecond) ? Math.round((ms / 1_000) * perSecond) : Number.POSITIVE_INFINITY;
    const [active, latenciesMs] = [new Set(), []];
    let [started, wrong] = [0, 0];
    const startedAtMs = performance.now();
    const start = (connections, connection) => {
      const dueAtMs = startedAtMs + (started / perSecond) * 1_000;
      const visiting = visit(connection)
        .catch(() => false)
        .then((isCorrect) => {
          if (!isCorrect) wrong += 1;
          latenciesMs.push(performance.now() - dueAtMs);
          connections.push(connection);
          active.delete(visiting);
        });
      active.add(visiting);
    };
    for (;;) {
      const passedMs = performance.now() - startedAtMs;
      const due = Math.min((passedMs / 1_000) * perSecond, total, started + 1_000);
      for (; started < due; started += 1) {
        const connections = idle[started % idle.length];
        const connection = connections.pop();
        // All connections to this process are active. It is next when one is idle.
        if (!connection) break;
        start(connections, connection);
      }
      if (passedMs >= ms && !(started < total && Number.isFinite(total))) break;
      await wait(1);
    }
    await Promise.all(active);
    const tookMs = performance.now() - startedAtMs;
    return { requests: latenciesMs.length, wrong, tookMs, ...percentilesOf(latenciesMs) };
  },

  /** Creates `count` payments, and requests the status of each once. */
  createPayments: async ({ count }) => {
    const [createMs, statusMs, retries] = [[], [], { count: 0 }];
    const creation = create(payment);
    let remaining = count;
    const loop = async (connection) => {
      while (remaining > 0) {
        remaining -= 1;
        const created = await sendUntil(connection, creation, 201, { latenciesMs: createMs, retries });
        const status = requestBytes({ path: `/status/${idIn(created)}` });
        await sendUntil(connection, status, 200, { latenciesMs: statusMs, retries });
      }
    };
    await Promise.all(idle.flat().map(loop));
    const refused = retries.count;
    return { created: createMs.length, refused, create: percentilesOf(createMs), status: percentilesOf(statusMs) };
  },

  close: () => {
    for (const connection of idle.splice(0).flat()) connection.close();
  },
});
