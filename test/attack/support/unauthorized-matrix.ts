import session from 'express-session';
import type { Transport } from '../../../src/sequencer/transport.js';
import { encode, v1 } from '../../../src/wire/codec.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { plainSuccess } from '../../support/sequencers/fault-sequencer.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { generateJwtKey } from '../../support/sites/service-jwt.js';
import { startSite } from '../../support/sites/site.js';
import { type ConnectionAnswer, type ConnectionRequest, KeepAliveConnection } from './keep-alive-connection.js';

// Sends every request of a matrix and compares the changes with the rule. The rule: state changes only by POST or DELETE,
// with JSON, with `Sec-Fetch-Site: same-origin` or an exact `Origin`, and never with another `Origin`. Only the browser that
// created a login can complete it, once.

const ownOrigin = 'https://shop.example';
const stranger = 'A'.repeat(43);

// ---- The dimensions ----

const nothing = undefined;
type Value = string | readonly string[] | undefined;

const fetchSites: readonly Value[] = [
  ...[nothing, 'same-origin', 'same-site', 'cross-site', 'none', 'Same-Origin', ''],
  ['same-origin', 'cross-site'],
];
const origins: readonly Value[] = [
  ...[nothing, ownOrigin, `${ownOrigin}/`, 'https://SHOP.example', 'http://shop.example', `${ownOrigin}:443`],
  ...['null', 'https://evil.example', `${ownOrigin}.evil.example`, `${ownOrigin} https://evil.example`],
];
const types: readonly Value[] = [
  ...['application/json; charset=utf-8', 'application/json', nothing, 'text/plain', 'text/plain; application/json'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=application/json', 'application/jsonp'],
];
const cookies = ['own', 'none', 'a stranger'] as const;

const intentBodies = {
  payment: '{"order":1}',
  login: '{"mode":"login"}',
  nothing: '',
  array: '[{"mode":"login"}]',
  form: 'mode=login',
  cut: '{"mode":"login"',
  terms: '{"order":1,"amount":"0.05"}',
  polluted: '{"order":1,"__proto__":{}}',
} as const;
const sessionBodies = {
  login: (id: string) => `{"id":"${id}"}`,
  form: (id: string) => `id=${id}`,
  polluted: (id: string) => `{"id":"${id}","__proto__":{}}`,
  array: (id: string) => `["${id}"]`,
} as const;

interface Point {
  readonly method: string;
  readonly path: string;
  readonly site: Value;
  readonly origin: Value;
  readonly type: Value;
  readonly cookie: (typeof cookies)[number];
  readonly body: string;
}

/** Every combination of these values. */
function* product<Dimensions extends Record<string, readonly unknown[]>>(
  dimensions: Dimensions,
): Generator<{ [Name in keyof Dimensions]: Dimensions[Name][number] }> {
  const [[name, values] = [], ...rest] = Object.entries(dimensions);
  if (name === undefined || !values) return yield {} as never;
  for (const value of values)
    for (const others of product(Object.fromEntries(rest))) yield { [name]: value, ...others } as never;
}

// ---- The rule ----

const isSameOrigin = ({ site, origin }: Point): boolean =>
  origin === ownOrigin ? site === undefined || site === 'same-origin' : origin === undefined && site === 'same-origin';

const isJson = ({ type }: Point): boolean => typeof type === 'string' && /^application\/json(?:;|$)/.test(type);

/** The change that the rule allows for this request. */
function allowed(point: Point): 'an intent' | 'a login' | 'a logout' | undefined {
  const { method, path, body, cookie } = point;
  if (!isSameOrigin(point)) return undefined;
  if (method === 'DELETE' && path === '/session') {
    return cookie === 'own' && (point.type === undefined || isJson(point)) ? 'a logout' : undefined;
  }
  if (method !== 'POST' || !isJson(point)) return undefined;
  if (path === '/intent') return body === 'payment' || body === 'login' ? 'an intent' : undefined;
  return path === '/session' && body === 'login' && cookie === 'own' ? 'a login' : undefined;
}

const successOf = { 'an intent': 201, 'a login': 200, 'a logout': 204 } as const;

// ---- The requests ----

/** A site, a connection to it, and a logged-in browser with a second login that is confirmed. */
interface Target {
  readonly connection: KeepAliveConnection;
  readonly transport: CountingTransport;
  readonly store: session.MemoryStore | undefined;
  /** The number of rows in the ledger and of completed logins. */
  readonly rows: () => Promise<string>;
  /** The cookies of the browser. */
  readonly jar: Map<string, string>;
  /** The login that the wallet has confirmed. */
  login: string;
  /** The last result of `stateOf`, if nothing was sent since. */
  state?: string | undefined;
}

const connections: KeepAliveConnection[] = [];
afterAll(() => {
  for (const connection of connections) connection.close();
});

/** The store of logins and intents. */
type LoginStore = 'the sealed cookie' | 'express-session' | 'a ledger';

async function startTarget(storedIn: LoginStore): Promise<Target> {
  const transport = new CountingTransport();
  const store = storedIn === 'express-session' ? new session.MemoryStore() : undefined;
  const { origin, router } = await startSite({
    sequencer: { transport },
    ledger: { url: storedIn === 'a ledger' ? await newDatabaseUrl('embedded') : undefined },
    origin: ownOrigin,
    payment: () => ({ amount: 5, currency: 'usd' }),
    webhook: { publicKeys: [generateJwtKey().publicKey] },
    // All requests come from one address.
    limits: { requests: false },
    before: (app) => {
      if (store) app.use(session({ secret: 'of the app', resave: false, saveUninitialized: false, store }));
    },
  });
  const connection = new KeepAliveConnection(origin);
  connections.push(connection);
  const countRows = async (): Promise<string> => {
    const sql = `select count(*)::text || count(completed_at)::text as counted
      from express_intents.intents left join express_intents.logins on intent_id = id`;
    return (await router.database.query<{ counted: string }>(sql)).rows[0]?.counted ?? '';
  };
  const rows = storedIn === 'a ledger' ? countRows : async () => 'none';
  const target = { connection, transport, store, rows, jar: new Map<string, string>(), login: '' };
  await createLogin(target);
  return target;
}

const trusted = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

async function createLogin(target: Target): Promise<void> {
  const answer = await target.connection.send({
    method: 'POST',
    path: '/intent',
    headers: { ...trusted, cookie: cookieHeader(target.jar) },
    body: intentBodies.login,
  });
  expect(answer.status).toBe(201);
  storeCookies(target.jar, answer);
  target.login = intentIdOf((JSON.parse(answer.body) as { client_secret: string }).client_secret);
}

async function logIn(target: Target): Promise<void> {
  const headers = { ...trusted, cookie: cookieHeader(target.jar) };
  const answer = await target.connection.send({
    method: 'POST',
    path: '/session',
    headers,
    body: sessionBodies.login(target.login),
  });
  expect(answer.status).toBe(200);
  storeCookies(target.jar, answer);
  await createLogin(target);
}

const cookieHeader = (jar: ReadonlyMap<string, string>): string =>
  [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

function storeCookies(jar: Map<string, string>, { headers }: ConnectionAnswer): void {
  for (const line of headers['set-cookie'] ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0(?:;|$)/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
}

function requestOf(point: Point, { jar, login }: Target): ConnectionRequest {
  const { method, path, site, origin, type, body } = point;
  const cookie = {
    own: cookieHeader(jar),
    none: undefined,
    'a stranger': cookieHeader(new Map([...jar.keys()].map((name) => [name, stranger]))),
  }[point.cookie];
  const all = { 'sec-fetch-site': site, origin, 'content-type': type, cookie };
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const bodies: Record<string, string | ((id: string) => string)> = path === '/intent' ? intentBodies : sessionBodies;
  const text = bodies[body] ?? '';
  return { method, path, headers, body: typeof text === 'string' ? text : text(login) } as ConnectionRequest;
}

/** A service that answers OK to everything and has a user for every login. */
class CountingTransport implements Transport {
  /** The number of calls that change state. */
  changes = 0;

  async call({ method }: { method: string }): Promise<Uint8Array> {
    if (method === 'getLoginForThirdPartyApp') return confirmed;
    if (method !== 'getStatus') this.changes += 1;
    return plainSuccess(method);
  }

  async close(): Promise<void> {}
}

const confirmed = encode(v1.GetLoginForThirdPartyAppResponse, { userId: { value: new Uint8Array(32).fill(7) } });

/** All that a request can change: state of the service, sessions, and rows. */
async function stateOf({ transport, store, rows }: Target): Promise<string> {
  const sessions = (store as { sessions?: Record<string, string> } | undefined)?.sessions ?? {};
  return `${transport.changes} changes, sessions ${JSON.stringify(sessions)}, rows ${await rows()}`;
}

/** Whether a response starts a session or ends that of the browser. */
function setsSession({ headers }: ConnectionAnswer, { cookie }: Point): boolean {
  const lines = (headers['set-cookie'] ?? []).filter((line) => /session|connect/.test(line));
  // Deleting an unknown cookie is allowed.
  return lines.some((line) => cookie === 'own' || !/max-age=0(?:;|$)/i.test(line));
}

/** Sends a request. Returns the fault if it changed state against the rule, or did not change it as allowed. */
async function faultOf(point: Point, target: Target): Promise<string | undefined> {
  const before = target.state ?? (await stateOf(target));
  const answer = await target.connection.send(requestOf(point, target));
  target.state = await stateOf(target);
  const isChanged = target.state !== before || setsSession(answer, point);
  const allowedChange = allowed(point);
  const summary = `${JSON.stringify(point)} was answered ${answer.status}`;
  if (!allowedChange)
    return isChanged || answer.status < 400 !== isOpen(point)
      ? `${summary}: something changed or could have changed`
      : undefined;
  if (answer.status !== successOf[allowedChange] || !isChanged) return `${summary}: ${allowedChange} was expected`;
  // A browser without cookies gets new ones.
  if (point.cookie === 'own') storeCookies(target.jar, answer);
  if (allowedChange === 'a login') await createLogin(target);
  if (allowedChange === 'a logout') await logIn(target);
  target.state = undefined;
  return undefined;
}

/** Whether a request succeeds without a change: GET or HEAD, except a status for another site, and a logout without a login. */
function isOpen(point: Point): boolean {
  const { method, path, type, site } = point;
  if (path.startsWith('/status/') && site === 'cross-site') return false;
  if (method === 'DELETE' && path === '/session') return isSameOrigin(point) && (type === undefined || isJson(point));
  return method === 'GET' || method === 'HEAD' ? path !== '/intent' : false;
}

/** Sends these combinations to several sites concurrently. Returns the faults. */
async function run(targets: readonly Target[], all: readonly Point[]): Promise<string[]> {
  const faults: string[] = [];
  let next = 0;
  await Promise.all(
    targets.map(async (target) => {
      for (let point = all[next++]; point; point = all[next++]) {
        const fault = await faultOf(point, target);
        if (fault) faults.push(fault);
      }
    }),
  );
  return faults.slice(0, 10);
}

// ---- The matrix ----

const where = { site: fetchSites, origin: origins };

/** Declares the tests of the matrix: all allowed combinations, and one in `every` others. */
export function describeMatrix(every: number): void {
  const chosen = (points: readonly Point[]): Point[] =>
    points.filter((point, index) => index % every === 0 || allowed(point));

  test('do not happen by POST /intent in any form, except for the allowed ones', async () => {
    const targets = await Promise.all([1, 2, 3].map(() => startTarget('the sealed cookie')));
    const dimensions = { ...where, type: types, cookie: ['own'] as const, body: Object.keys(intentBodies) };
    const points = [...product({ method: ['POST'], path: ['/intent'], ...dimensions })];
    expect(await run(targets, chosen(points))).toEqual([]);
    expect(points).toHaveLength(8 * 10 * 8 * 8);
    expect(points.filter(allowed)).toHaveLength(3 * 2 * 2);
  }, 600_000);

  test.each(['the sealed cookie', 'express-session'] as const)(
    'do not happen by POST or DELETE /session with logins in %s, except for the allowed ones',
    async (storedIn) => {
      const targets = await Promise.all([1, 2, 3].map(() => startTarget(storedIn)));
      for (const target of targets) await logIn(target);
      const dimensions = { path: ['/session'], ...where, type: types.slice(1, 4), cookie: cookies };
      const points = [
        ...product({ method: ['POST'], ...dimensions, body: Object.keys(sessionBodies) }),
        ...product({ method: ['DELETE'], ...dimensions, body: ['none'] }),
      ];
      expect(await run(targets, chosen(points))).toEqual([]);
      expect(points).toHaveLength(8 * 10 * 3 * 3 * (4 + 1));
      const count = (kind: string): number => points.filter((point) => allowed(point) === kind).length;
      expect([count('a login'), count('a logout')]).toEqual([3 * 1, 3 * 2]);
      // No rejected request has used up a login.
      for (const target of targets) await logIn(target);
    },
    600_000,
  );

  test('do not happen by POST /intent or POST /session with a ledger, and no row is added', async () => {
    const target = await startTarget('a ledger');
    const dimensions = { method: ['POST'], ...where, type: types.slice(0, 3) };
    const points = [
      ...product({
        ...dimensions,
        cookie: cookies.slice(0, 1),
        path: ['/intent'],
        body: ['payment', 'login', 'terms'],
      }),
      ...product({ ...dimensions, cookie: cookies.slice(0, 2), path: ['/session'], body: ['login', 'form'] }),
    ];
    expect(await run([target], chosen(points))).toEqual([]);
    expect(points).toHaveLength(8 * 10 * 3 * (3 + 4));
    await logIn(target);
  }, 600_000);

  test('do not happen by any other method or route', async () => {
    const targets = await Promise.all([1, 2, 3].map(() => startTarget('express-session')));
    for (const target of targets) await logIn(target);
    const paths = ['/intent', '/session', '/.well-known/service-payments.json', `/status/${'1'.repeat(32)}`];
    const dimensions = { ...where, type: ['application/json'], cookie: ['own'] as const, body: ['login'] };
    const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'MKCOL', 'DELETE', 'POST'];
    const points = [...product({ method: methods, path: paths, ...dimensions })].filter((point) => !isChange(point));
    expect(await run(targets, chosen(points))).toEqual([]);
    expect(points).toHaveLength((8 * 4 - 3) * 8 * 10);
    for (const target of targets) await logIn(target);
  }, 600_000);
}

/** Whether this request can change state. */
const isChange = ({ method, path }: Point): boolean =>
  ['POST /intent', 'POST /session', 'DELETE /session'].includes(`${method} ${path}`);
