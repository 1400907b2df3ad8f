// Hostile requests: valid ones with one or more defects. A seed and number give the same request, except for random values of
// the sites.
import { hostileInput, hostileText, seededRandom } from '../hostile-inputs.mjs';
import { ownOrigin } from './site.mjs';

const crlf = '\r\n';

/**
 * @param known values that a browser knows: { ids, cookies, jwts }
 * @returns {{ bytes: Buffer, isWhole: boolean, isHead: boolean }} `isWhole` if the request is complete and has no surplus bytes
 */
export function hostileRequest(seed, n, known) {
  const random = seededRandom((seed ^ Math.imul(n + 1, 0x9e3779b1)) >>> 0);
  const request = soundRequest(random, known);
  for (let times = random.below(4); times > 0; times--) random.pick(distortions)(random, request, known);
  return serialize(random, request);
}

function soundRequest(random, known) {
  const host = ['Host', 'shop.example'];
  const site = random.below(4) === 0 ? ['Origin', ownOrigin] : ['Sec-Fetch-Site', 'same-origin'];
  const json = [host, site, ['Content-Type', 'application/json']];
  const cookie = ['Cookie', random.pick(known.cookies)];
  const id = random.pick(known.ids);
  return random.pick([
    () => ({ method: 'POST', target: '/intent', headers: [...json, cookie], body: random.pick(intentBodies) }),
    () => ({ method: 'POST', target: '/intent', headers: json, body: random.pick(intentBodies) }),
    () => ({
      method: 'POST',
      target: '/intent',
      headers: [...json, cookie, ['Idempotency-Key', random.pick(['key-1', '"key-2"', `key-${random.below(1_000)}`])]],
      body: random.pick(intentBodies),
    }),
    () => ({ method: 'GET', target: '/goods', headers: [host, cookie, ['Accept', random.pick(accepts)]], body: '' }),
    () => ({ method: 'POST', target: '/session', headers: [...json, cookie], body: JSON.stringify({ id }) }),
    () => ({ method: 'DELETE', target: '/session', headers: [host, site, cookie], body: '' }),
    () => ({ method: 'GET', target: '/session', headers: [host, cookie], body: '' }),
    () => ({ method: 'GET', target: `/status/${id}`, headers: [host], body: '' }),
    () => ({ method: random.pick(['GET', 'HEAD']), target: `/intent/${id}/events`, headers: [host, cookie], body: '' }),
    () => ({ method: 'GET', target: random.pick(files), headers: [host], body: '' }),
    () => ({ method: 'GET', target: '/account', headers: [host, cookie, ['Accept', random.pick(accepts)]], body: '' }),
    () => ({
      method: 'POST',
      target: '/intent/webhook',
      headers: [host, ['Content-Type', 'application/jwt']],
      body: random.pick(known.jwts),
    }),
  ])();
}

const files = [
  '/.well-known/service-payments.json',
  '/intent/v1/elements.js',
  '/intent/v1/intent-dialog.js',
  '/intent/v1/portable-ed25519.js',
];
const accepts = ['text/html', '*/*', 'application/json', 'text/html;q=0.1, */*;q=NaN', ',,,', 'a'.repeat(500)];
const intentBodies = [
  '{"mode":"payment","order":1}',
  '{"mode":"login"}',
  '{"order":{"article":"tea"}}',
  '{"order":"with-login"}',
  '{"order":"refused"}',
  '{"amount":"4.50"}',
  '{"amount":4}',
  '{}',
];

const bombs = [
  '['.repeat(1_900) + ']'.repeat(1_900),
  `{"order":${'['.repeat(1_800)}${']'.repeat(1_800)}}`,
  `{"order":${'{"a":'.repeat(600)}1${'}'.repeat(600)}}`,
  `{"order":"${'\\u0000'.repeat(600)}"}`,
  `{"order":${'9'.repeat(3_000)}}`,
  '{"order":1e999999,"amount":1e308}',
  '{"amount":-0}',
  '{"amount":9007199254740993}',
  '{"amount":"0x05"}',
  '{"__proto__":{"mode":"login"},"order":1}',
  '{"order":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
  '{"order":1,"order":2,"mode":"login","mode":"payment"}',
  '{"mode":"login","order":"\ud800"}',
  'null',
  '0',
  '""',
  '\ufeff{}',
  `{"order":"${'x'.repeat(5_000)}"}`,
  `${' '.repeat(4_000)}{}`,
  '{"id":{"toString":1}}',
  `{"id":"${'1'.repeat(3_000)}"}`,
  '<xml/>',
  'mode=login&order=1',
];

const methods = [
  ...['GET', 'POST', 'DELETE', 'HEAD', 'PUT', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', 'POST2'],
  ...['', 'G\u0000T'],
];
const origins = [
  ...['null', 'https://evil.example', `${ownOrigin}/`, `${ownOrigin}.evil.example`, 'file://', '\u00ff', ownOrigin],
];
const sites = ['cross-site', 'same-site', 'none', 'Same-Origin', 'same-origin, same-origin', '', 'same-origin'];
const types = [
  ...['text/plain', 'application/json; charset=utf-16', 'application/jwt', 'multipart/form-data; boundary=x', ';'],
  ...['/', 'application/json, text/html', 'a'.repeat(300)],
];
const hosts = [
  ...['', 'evil.example', '[::1]', '127.0.0.1:99999', 'a b', '\u00e9', 'x'.repeat(2_000), 'shop.example@evil'],
  ...['$(id)'],
];
const targets = [
  ...['*', '/', '//', '//evil.example/intent', '/intent/', '/intent/../session', '/./intent', '/%69ntent'],
  ...['/intent%00', '/intent;x=1', '/INTENT', '/status/', '/status/%', '/status/%zz', '/status/..%2f..'],
  ...['/intent//events', '/account?next=//evil.example', '/session#x', 'intent', '?', '\\intent', '/\u00e9'],
];
const extra = [
  ['Expect', '100-continue'],
  ['Expect', 'tea'],
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Connection', 'close'],
  ['Connection', 'keep-alive, Sec-Fetch-Site'],
  ['Content-Encoding', 'gzip'],
  ['Content-Encoding', 'identity'],
  ['Accept-Encoding', 'br;q=0, gzip;q=x, *;q=0'],
  ['Accept-Encoding', '\u00ff'],
  ['If-None-Match', '*'],
  ['If-None-Match', `${'W/"a",'.repeat(200)}"`],
  ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['Range', 'bytes=0-0,1-1,-1'],
  ['Last-Event-ID', 'intent_submitted'],
  ['Last-Event-ID', '\u0001\u00ff'],
  ['Idempotency-Key', 'k'],
  ['Idempotency-Key', '\u00ff'.repeat(300)],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Forwarded-For', `${'1.2.3.4, '.repeat(200)}::1`],
  ['X-Forwarded-For', 'unknown, "[::1]:x"'],
  ['X-Forwarded-Proto', 'https, gopher'],
  ['X-Forwarded-Host', 'evil.example'],
  ['Forwarded', 'for="[::1'],
  ['Authorization', 'Basic Og=='],
  ['Cookie', `${'a=b; '.repeat(500)}`],
  ['Cookie', 'intent=%; intent-session=%ff; connect.sid=s%3A'],
  ['Cookie', '__proto__=1; constructor=2; =; ;; a'],
  ['Cookie', 'intent-session=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AAAA.AAAA.AAAA'],
  ['Cookie', `intent-session=${'x.'.repeat(2_000)}`],
  ['Content-Length', '0'],
  ['X-Long', 'x'.repeat(9_000)],
  ['X-Huge', 'x'.repeat(20_000)],
  ['__proto__', 'x'],
  ['constructor', 'x'],
];

const setHeader = (request, name, value) => {
  request.headers = request.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase());
  request.headers.push([name, value]);
};

/** Each function adds one defect to a request. */
const distortions = [
  (random, request) => {
    request.method = random.pick(methods);
  },
  (random, request) => {
    request.target = random.pick(targets);
  },
  (random, request) => {
    request.target = request.target.replace(/[1-9A-Za-z]{32,}/, (id) => encoded(hostileText(random, [id])));
  },
  (random, request) => {
    request.target += random.pick(tails);
  },
  (random, request) => {
    request.target = random.pick(absolutes) + request.target;
  },
  (random, request) => setHeader(request, 'Origin', random.pick(origins)),
  (random, request) => setHeader(request, 'Sec-Fetch-Site', random.pick(sites)),
  (random, request) => setHeader(request, 'Content-Type', random.pick(types)),
  (random, request) => setHeader(request, 'Host', random.pick(hosts)),
  (random, request) => {
    request.headers = request.headers.filter(() => random.below(2));
  },
  (random, request) => request.headers.push(random.pick(extra)),
  (random, request) => request.headers.push(random.pick(extra), random.pick(extra), random.pick(extra)),
  // A duplicate header, with the same or another value.
  (random, request) => {
    const [name, value] = random.pick(request.headers) ?? ['A', 'b'];
    const again = random.pick([name, name.toLowerCase(), `${name} `, ` ${name}`]);
    request.headers.push([again, random.pick([value, 'other', ''])]);
  },
  (random, request, known) => {
    request.body = hostileInput(random, [Buffer.from(request.body), Buffer.from(random.pick(known.jwts))]);
  },
  (random, request) => {
    request.body = hostileText(random, [String(request.body), ...intentBodies]);
  },
  (random, request) => {
    request.body = random.pick(bombs);
  },
  (random, request) => {
    request.body = random.pick(bombs);
  },
  (random, request) => {
    request.framing = random.pick(framings);
  },
  (random, request) => {
    request.version = random.pick(versions);
  },
  (_random, request) => {
    request.isNoisy = true;
  },
];

const tails = ['?a=b', `?${'x'.repeat(5_000)}`, '?__proto__[a]=1&a[]=1&a=%zz', '?%00', '/', '%0d%0aX-Owned:1'];
const absolutes = ['http://evil.example', 'https://shop.example', 'http://', 'javascript:', 'ftp://a@b:1'];
const versions = ['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', '', 'HTTP/1.1 '];

const encoded = (text) =>
  text.length % 2 ? encodeURIComponent(text.toWellFormed?.() ?? '') : text.replace(/[\r\n\0 ]/g, '_');

/** Ways to declare the length of a body. Each returns header lines, the sent body, and whether it is complete. */
const framings = [
  (body) => [['Transfer-Encoding: chunked'], chunked(body), true],
  (body) => [['Transfer-Encoding: chunked'], chunked(body).subarray(0, -3), false],
  (body) => [['Transfer-Encoding: chunked'], Buffer.concat([Buffer.from(`zz${crlf}`), body]), false],
  (body) => [['Transfer-Encoding: gzip, chunked'], chunked(body), false],
  (body) => [['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], chunked(body), false],
  (body) => [[`Content-Length: ${body.length + 10}`], body, false],
  (body) => [[`Content-Length: ${Math.max(0, body.length - 3)}`], body, false],
  (body) => [[`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`], body, false],
  (body) => [['Content-Length: -1'], body, false],
  (body) => [['Content-Length: 99999999999999999999'], body, false],
  (body) => [['Content-Length: 1e3'], body, false],
  (body) => [[], body, false],
];

const chunked = (body) =>
  Buffer.concat([
    ...(body.length > 0 ? [Buffer.from(`${body.length.toString(16)};ext=1${crlf}`), body, Buffer.from(crlf)] : []),
    Buffer.from(`0${crlf}${crlf}`),
  ]);

/** Headers after which only the server knows where the request ends. */
const framing = /^(?:content-length|expect|upgrade|connection|transfer-encoding)$/i;

function serialize(random, { method, target, headers, body, framing: frame, version = 'HTTP/1.1', isNoisy = false }) {
  const payload = Buffer.from(body);
  const needsLength = payload.length > 0 || method === 'POST';
  const plain = () => [needsLength ? [`Content-Length: ${payload.length}`] : [], payload, true];
  const [lines, sent, isFramed] = (frame ?? plain)(payload);
  const fields = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} ${version}`, ...fields, ...lines, '', ''].join(crlf);
  const sound = Buffer.concat([Buffer.from(head, 'latin1'), sent]);
  const bytes = isNoisy ? Buffer.from(hostileInput(random, [sound])) : sound;
  const isPlain =
    /^[A-Z]+$/.test(method) && method !== 'CONNECT' && version === 'HTTP/1.1' && !/[\r\n\0 ]/.test(target);
  const isWhole = isFramed && isPlain && !isNoisy && !headers.some(([name]) => framing.test(name.trim()));
  return { bytes, isWhole, isHead: bytes.subarray(0, 5).toString('latin1') === 'HEAD ' };
}
