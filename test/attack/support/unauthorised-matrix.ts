import session from 'express-session';
import type { Transport } from '../../../src/sequencer/transport.js';
import { encode, v1 } from '../../../src/wire/codec.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { plainSuccess } from '../../support/sequencers/fault-sequencer.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { generateJwtKey } from '../../support/sites/service-jwt.js';
import { startSite } from '../../support/sites/site.js';
import { Lane, type LaneAnswer, type LaneRequest } from './lane.js';

// Every request of a matrix is sent, and what changed is compared with what the rule allows. The rule is written down
// from what was promised: state changes only by POST or DELETE, with JSON, with `Sec-Fetch-Site: same-origin` or else an
// exact `Origin`, and never with another `Origin`; and a session only for the browser that began the login, once.

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

const saysOwnSite = ({ site, origin }: Point): boolean =>
  origin === ownOrigin ? site === undefined || site === 'same-origin' : origin === undefined && site === 'same-origin';

const saysJson = ({ type }: Point): boolean => typeof type === 'string' && /^application\/json(?:;|$)/.test(type);

/** What this request may change, by the rule. */
function allowed(point: Point): 'an intent' | 'a login' | 'a logout' | undefined {
  const { method, path, body, cookie } = point;
  if (!saysOwnSite(point)) return undefined;
  if (method === 'DELETE' && path === '/session') {
    return cookie === 'own' && (point.type === undefined || saysJson(point)) ? 'a logout' : undefined;
  }
  if (method !== 'POST' || !saysJson(point)) return undefined;
  if (path === '/intent') return body === 'payment' || body === 'login' ? 'an intent' : undefined;
  return path === '/session' && body === 'login' && cookie === 'own' ? 'a login' : undefined;
}

const successOf = { 'an intent': 201, 'a login': 200, 'a logout': 204 } as const;

// ---- What is sent ----

/** A site of its own with a connection to it, and a browser that has begun a login and is logged in besides. */
interface Track {
  readonly lane: Lane;
  readonly transport: CountingTransport;
  readonly store: session.MemoryStore | undefined;
  /** Of the ledger: how many there are, and how many logins of them are completed. */
  readonly rows: () => Promise<string>;
  /** What the browser has. */
  readonly jar: Map<string, string>;
  /** The login that its wallet has confirmed. */
  login: string;
  /** What `stateOf` said last, where nothing was done since. */
  state?: string | undefined;
}

const lanes: Lane[] = [];
afterAll(() => {
  for (const lane of lanes) lane.close();
});

/** Where logins and intents are kept. */
type Kept = 'the sealed cookie' | 'express-session' | 'a ledger';

async function startTrack(keptIn: Kept): Promise<Track> {
  const transport = new CountingTransport();
  const store = keptIn === 'express-session' ? new session.MemoryStore() : undefined;
  const { origin, router } = await startSite({
    transport,
    databaseUrl: keptIn === 'a ledger' ? await newDatabaseUrl('embedded') : undefined,
    origin: ownOrigin,
    payment: () => ({ amount: 5, currency: 'usd' }),
    webhook: true,
    // All come from one address.
    rateLimits: false,
    webhookPublicKey: generateJwtKey().publicKey,
    before: (app) => {
      if (store) app.use(session({ secret: 'of the app', resave: false, saveUninitialized: false, store }));
    },
  });
  const lane = new Lane(origin);
  lanes.push(lane);
  const countRows = async (): Promise<string> => {
    const sql = 'select count(*)::text || count(login_completed_at)::text as counted from express_intents.intents';
    return (await router.database.query<{ counted: string }>(sql)).rows[0]?.counted ?? '';
  };
  const rows = keptIn === 'a ledger' ? countRows : async () => 'none';
  const track = { lane, transport, store, rows, jar: new Map<string, string>(), login: '' };
  await beginLogin(track);
  return track;
}

const trusted = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };

async function beginLogin(track: Track): Promise<void> {
  const answer = await track.lane.send({
    method: 'POST',
    path: '/intent',
    headers: { ...trusted, cookie: cookieHeader(track.jar) },
    body: intentBodies.login,
  });
  expect(answer.status).toBe(201);
  keep(track.jar, answer);
  track.login = intentIdOf((JSON.parse(answer.body) as { client_secret: string }).client_secret);
}

async function logIn(track: Track): Promise<void> {
  const headers = { ...trusted, cookie: cookieHeader(track.jar) };
  const answer = await track.lane.send({
    method: 'POST',
    path: '/session',
    headers,
    body: sessionBodies.login(track.login),
  });
  expect(answer.status).toBe(200);
  keep(track.jar, answer);
  await beginLogin(track);
}

const cookieHeader = (jar: ReadonlyMap<string, string>): string =>
  [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

function keep(jar: Map<string, string>, { headers }: LaneAnswer): void {
  for (const line of headers['set-cookie'] ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0(?:;|$)/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
}

function requestOf(point: Point, { jar, login }: Track): LaneRequest {
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
  return { method, path, headers, body: typeof text === 'string' ? text : text(login) } as LaneRequest;
}

/** A service that says OK to everything, and to every login that somebody has confirmed it. */
class CountingTransport implements Transport {
  /** How many calls were made that change something there. */
  changes = 0;

  async call({ method }: { method: string }): Promise<Uint8Array> {
    if (method === 'getLoginForThirdPartyApp') return confirmed;
    if (method !== 'getStatus') this.changes += 1;
    return plainSuccess(method);
  }

  async close(): Promise<void> {}
}

const confirmed = encode(v1.GetLoginForThirdPartyAppResponse, { userId: { value: new Uint8Array(32).fill(7) } });

/** Everything that a request can change: calls that change something at the service, sessions, and rows. */
async function stateOf({ transport, store, rows }: Track): Promise<string> {
  const sessions = (store as { sessions?: Record<string, string> } | undefined)?.sessions ?? {};
  return `${transport.changes} changes, sessions ${JSON.stringify(sessions)}, rows ${await rows()}`;
}

/** Whether a session begins with this answer, or that of the browser ends. */
function setsSession({ headers }: LaneAnswer, { cookie }: Point): boolean {
  const lines = (headers['set-cookie'] ?? []).filter((line) => /session|connect/.test(line));
  // A cookie that nobody is known by may be thrown away.
  return lines.some((line) => cookie === 'own' || !/max-age=0(?:;|$)/i.test(line));
}

/** Sends a request; gives what it changed though it might not, or did not though it might. */
async function faultOf(point: Point, track: Track): Promise<string | undefined> {
  const before = track.state ?? (await stateOf(track));
  const answer = await track.lane.send(requestOf(point, track));
  track.state = await stateOf(track);
  const isChanged = track.state !== before || setsSession(answer, point);
  const may = allowed(point);
  const told = `${JSON.stringify(point)} was answered ${answer.status}`;
  if (!may)
    return isChanged || answer.status < 400 !== isOpen(point) ? `${told}: something changed, or could` : undefined;
  if (answer.status !== successOf[may] || !isChanged) return `${told}: ${may} was due`;
  // A browser without cookies is another one, and gets its own.
  if (point.cookie === 'own') keep(track.jar, answer);
  if (may === 'a login') await beginLogin(track);
  if (may === 'a logout') await logIn(track);
  track.state = undefined;
  return undefined;
}

/** Whether a request that changes nothing succeeds: a question, but none of another site about a status, and a logout of nobody. */
function isOpen(point: Point): boolean {
  const { method, path, type, site } = point;
  if (path.startsWith('/status/') && site === 'cross-site') return false;
  if (method === 'DELETE' && path === '/session') return saysOwnSite(point) && (type === undefined || saysJson(point));
  return method === 'GET' || method === 'HEAD' ? path !== '/intent' : false;
}

/** Goes through these combinations on several tracks at the same time; gives the faults. */
async function run(tracks: readonly Track[], all: readonly Point[]): Promise<string[]> {
  const faults: string[] = [];
  let next = 0;
  await Promise.all(
    tracks.map(async (track) => {
      for (let point = all[next++]; point; point = all[next++]) {
        const fault = await faultOf(point, track);
        if (fault) faults.push(fault);
      }
    }),
  );
  return faults.slice(0, 10);
}

// ---- The matrix ----

const where = { site: fetchSites, origin: origins };

/** Declares the tests of the matrix: all that is allowed, and every so many of the other combinations. */
export function describeMatrix(every: number): void {
  const chosen = (points: readonly Point[]): Point[] =>
    points.filter((point, index) => index % every === 0 || allowed(point));

  test('none by POST /intent, of all its forms; and those that are allowed work', async () => {
    const tracks = await Promise.all([1, 2, 3].map(() => startTrack('the sealed cookie')));
    const dimensions = { ...where, type: types, cookie: ['own'] as const, body: Object.keys(intentBodies) };
    const points = [...product({ method: ['POST'], path: ['/intent'], ...dimensions })];
    expect(await run(tracks, chosen(points))).toEqual([]);
    expect(points).toHaveLength(8 * 10 * 8 * 8);
    expect(points.filter(allowed)).toHaveLength(3 * 2 * 2);
  }, 600_000);

  test.each(['the sealed cookie', 'express-session'] as const)(
    'none by POST or DELETE /session, kept in %s; and those that are allowed work',
    async (keptIn) => {
      const tracks = await Promise.all([1, 2, 3].map(() => startTrack(keptIn)));
      for (const track of tracks) await logIn(track);
      const dimensions = { path: ['/session'], ...where, type: types.slice(1, 4), cookie: cookies };
      const points = [
        ...product({ method: ['POST'], ...dimensions, body: Object.keys(sessionBodies) }),
        ...product({ method: ['DELETE'], ...dimensions, body: ['none'] }),
      ];
      expect(await run(tracks, chosen(points))).toEqual([]);
      expect(points).toHaveLength(8 * 10 * 3 * 3 * (4 + 1));
      const count = (kind: string): number => points.filter((point) => allowed(point) === kind).length;
      expect([count('a login'), count('a logout')]).toEqual([3 * 1, 3 * 2]);
      // None of those that were refused has used a login up.
      for (const track of tracks) await logIn(track);
    },
    600_000,
  );

  test('none by POST /intent or POST /session where there is a ledger, and no row', async () => {
    const track = await startTrack('a ledger');
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
    expect(await run([track], chosen(points))).toEqual([]);
    expect(points).toHaveLength(8 * 10 * 3 * (3 + 4));
    await logIn(track);
  }, 600_000);

  test('none by any other method, or on any other route', async () => {
    const tracks = await Promise.all([1, 2, 3].map(() => startTrack('express-session')));
    for (const track of tracks) await logIn(track);
    const paths = ['/intent', '/session', '/.well-known/service-payments.json', `/status/${'1'.repeat(32)}`];
    const dimensions = { ...where, type: ['application/json'], cookie: ['own'] as const, body: ['login'] };
    const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'MKCOL', 'DELETE', 'POST'];
    const points = [...product({ method: methods, path: paths, ...dimensions })].filter((point) => !isChange(point));
    expect(await run(tracks, chosen(points))).toEqual([]);
    expect(points).toHaveLength((8 * 4 - 3) * 8 * 10);
    for (const track of tracks) await logIn(track);
  }, 600_000);
}

/** Whether this is one of the requests that can change something. */
const isChange = ({ method, path }: Point): boolean =>
  ['POST /intent', 'POST /session', 'DELETE /session'].includes(`${method} ${path}`);
