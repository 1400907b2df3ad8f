// `npm run fuzz:http -- --count 1000000`: sends hostile requests to every route of the built package. None may cause a crash,
// hang, 5xx response or forbidden change. If one does, exits with 1 and prints the `--seed` that repeats it.
// `--planted throws|hangs|changes|leaks` proves that a fault is found.
import { generateKeyPairSync, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../../../build/intents/payload.js';
import { formatBase58 } from '../../../build/keys/base58.js';
import { Connection } from './connection.mjs';
import { plants } from './plants.mjs';
import { hostileRequest } from './requests.mjs';
import { changesSession, faultOfAnswer, isAllowed } from './rule.mjs';
import { ownOrigin, startSites } from './site.mjs';

const connections = 24;
const mostFaults = 10;

const { values } = parseArgs({
  options: Object.fromEntries(['count', 'seed', 'planted', 'patience'].map((name) => [name, { type: 'string' }])),
});
const count = Number(values.count ?? 200_000);
const seed = Number(values.seed ?? randomInt(2 ** 32));
/** The time limit of a response, in milliseconds, on a busy machine. */
const patienceMs = Number(values.patience ?? 120_000);
const faults = [];
const tally = new Map();
/** The last sent request, by the two ports of its connection. */
const current = new Map();

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) =>
    note(`${event}: ${error?.stack ?? error}, during ${[...current.values()].slice(-3).map(shown).join(' ')}`),
  );
}
// Express uses a deprecated URL parser.
process.on('warning', (warning) => warning.code === 'DEP0170' || note(`warning: ${warning.stack}`));

console.log(`fuzz:http: ${count} requests, seed ${seed}`);
const service = serviceKeyPair();
const sites = await startSites({
  webhookPublicKey: service.publicKey,
  plant: plants[values.planted],
  onChange,
});
const known = await createKnownValues();
const begun = performance.now();
let next = 0;
await Promise.all(Array.from({ length: connections }, (_, n) => send(sites[n % sites.length])));
await finish();
report();

/** Sends requests over one connection after the other until the count is reached. */
async function send(site) {
  const connection = new Connection(site.port, current, patienceMs);
  for (let n = next++; n < count && faults.length < mostFaults; n = next++) {
    const request = hostileRequest(seed, n, known);
    const outcome = await connection.send(request);
    const fault = faultOfAnswer(request, outcome);
    if (fault) note(`request ${n} ${fault}: ${shown(request)}`);
    if (changesSession(outcome) && !isAllowed('session', request, site))
      note(`request ${n} changed a session: ${shown(request)}`);
    const kind = outcome.kind === 'answer' ? String(outcome.status) : outcome.kind;
    tally.set(kind, (tally.get(kind) ?? 0) + 1);
  }
  connection.close();
}

/** Called when the service creates an intent. */
function onChange(connection) {
  const request = current.get(connection);
  const site = sites.find(({ port }) => port === Number(connection.split(' ')[0]));
  if (request && !isAllowed('intent', request, site)) note(`an intent was created by ${shown(request)}`);
}

/** Afterwards each site must work, have no errors in its log, and close. */
async function finish() {
  // Waits for pending callbacks.
  await new Promise((resolve) => setTimeout(resolve, 100));
  current.clear();
  for (const { port, log, router, server } of sites) {
    const errors = log.filter(([line]) =>
      /^express-intents: (?:internal_error|invalid_configuration|sequencer)/.test(line),
    );
    if (errors.length > 0) note(`the log has errors: ${JSON.stringify(errors[0]).slice(0, 500)}`);
    const body = '{"mode":"login"}';
    const headers = { origin: ownOrigin, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}/intent`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(patienceMs),
    });
    if (answer.status !== 201) note(`afterwards a login was answered ${answer.status}`);
    await router.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  if (Object.keys(Object.prototype).length > 0 || 'polluted' in {}) note('a prototype was polluted');
}

/** The request as text, with repetitions shortened. */
function shown({ bytes }) {
  const text = bytes.toString('latin1').replace(/(.{1,12}?)\1{4,}/gs, '$1$1...');
  return JSON.stringify(text.slice(0, 700));
}

function note(fault) {
  if (faults.length < mostFaults) faults.push(fault);
}

/** The ids and cookies of started logins of each site, and signed webhook calls. */
async function createKnownValues() {
  const known = { ids: [], cookies: ['intent=none'], jwts: ['e.e.e'] };
  for (const { port } of sites) {
    for (const body of ['{"mode":"login"}', '{"mode":"login"}']) {
      const headers = { origin: ownOrigin, 'content-type': 'application/json', cookie: known.cookies.at(-1) };
      const answer = await fetch(`http://127.0.0.1:${port}/intent`, { method: 'POST', headers, body });
      const { client_secret: secret } = await answer.json();
      known.ids.push(intentIdOf(rendezvousKeyPair(parseClientSecret(secret))));
      const lines = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
      if (lines.length > 0) known.cookies.push(lines.join('; '));
    }
  }
  for (const intent of known.ids) {
    known.jwts.push(
      await new SignJWT({ intent, state: 'SUBMITTED' }).setProtectedHeader({ alg: 'EdDSA' }).sign(service.privateKey),
    );
  }
  return known;
}

function serviceKeyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: formatBase58(Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url')) };
}

function report() {
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  const kinds = [...tally].sort(([a], [b]) => a.localeCompare(b)).map(([kind, times]) => `${kind}: ${times}`);
  console.log(`fuzz:http: ${seconds} s, ${kinds.join(', ')}`);
  for (const fault of faults) console.error(`fuzz:http: FAULT: ${fault}`);
  console.log(faults.length === 0 ? 'fuzz:http: no fault' : `fuzz:http: repeat with --seed ${seed} --count ${count}`);
  process.exit(faults.length === 0 ? 0 : 1);
}
