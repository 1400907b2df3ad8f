// The rules for responses to any request, and for requests that may change state, derived from the promises of the docs and
// applied to the sent bytes.
import { canaries, ownOrigin } from './site.mjs';

/** The fault of a response, or undefined. */
export function faultOfAnswer({ isWhole }, outcome) {
  if (outcome.kind === 'hangs') return 'was never answered';
  // A client that ends an incomplete request may be disconnected during the response.
  const isCut = !isWhole && /^HTTP\/1\.1 [2-4]/.test(outcome.text ?? '');
  if (outcome.kind === 'broken') return isCut ? undefined : `got no HTTP: ${JSON.stringify(outcome.text)}`;
  if (outcome.kind === 'closed')
    return isWhole ? 'was complete, and its connection was closed without a response' : undefined;
  const { status, headers, body, isLeftover } = outcome;
  if (isLeftover) return 'got more than one answer';
  if (status >= 500) return `was answered ${status}: ${String(body).slice(0, 300)}`;
  const value = (name) => headers.find(([one]) => one.toLowerCase() === name)?.[1];
  const strange = headers.find(([name]) => !knownHeaders.has(name.toLowerCase()));
  if (strange) return `got a header ${JSON.stringify(strange)}`;
  const all = `${headers.join('\n')}\n${body}`;
  for (const [name, canary] of Object.entries(canaries)) if (all.includes(canary)) return `received ${name}`;
  if (
    /node_modules|\bat \S+ \(|\/(?:dist|build)\//.test(String(body)) &&
    !/javascript/.test(value('content-type') ?? '')
  )
    return `was shown a stack: ${String(body).slice(0, 300)}`;
  if (/^application\/problem\+json/.test(value('content-type') ?? '')) return faultOfProblem(status, body, value);
  return undefined;
}

const knownHeaders = new Set(
  `access-control-allow-methods allow cache-control connection content-encoding content-length content-security-policy
  content-type cross-origin-opener-policy cross-origin-resource-policy date etag keep-alive location origin-agent-cluster
  referrer-policy retry-after set-cookie transfer-encoding vary x-accel-buffering x-content-type-options
  x-dns-prefetch-control x-download-options x-frame-options x-permitted-cross-domain-policies x-xss-protection ratelimit
  ratelimit-policy x-request-id`.split(/\s+/),
);

/** An error of the router: in the form of RFC 9457, not cacheable, and only about the request. */
function faultOfProblem(status, body, value) {
  if (value('cache-control') !== 'no-store') return 'has a cacheable error';
  if (!/default-src 'none'/.test(value('content-security-policy') ?? '')) return 'has no content security policy';
  if (body.length === 0) return undefined;
  try {
    const problem = JSON.parse(String(body));
    const isNamed = problem.instance === `urn:express-intents:request:${value('x-request-id')}`;
    const isTyped = problem.type === `urn:express-intents:error:${problem.code}`;
    if (problem.status === status && isTyped && isNamed) return undefined;
  } catch {
    // Reported below.
  }
  return `is no problem: ${String(body).slice(0, 200)}`;
}

/** Whether a response starts or ends a session of the router. */
export function changesSession({ kind, headers }) {
  if (kind !== 'answer') return false;
  return headers.some(([name, value]) => name.toLowerCase() === 'set-cookie' && value.startsWith('intent-session='));
}

/** Whether a request may make this change on a site. Doubtful ones may not. Corrupt bytes may contain several requests. */
export function isAllowed(change, { bytes, isWhole }, site) {
  if (isWhole) return mayChange(change, bytes, site);
  const text = bytes.toString('latin1');
  const begins = [...text.matchAll(/(?:POST|DELETE) /g)].map(({ index }) => index);
  return begins.some((index) => mayChange(change, bytes.subarray(index), site));
}

function mayChange(change, bytes, { isPlain }) {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [head, body] = [text.slice(0, end), bytes.subarray(end + 4)];
  const [first = '', ...lines] = head.split('\r\n');
  const [, method, path] =
    /^([A-Z]+) (?:https?:\/\/[^/ ]*|javascript:|ftp:\/\/[^/ ]*)?(\/[^? #]*)?[^ ]* HTTP\/\d\.\d$/.exec(first) ?? [];
  const values = (name) =>
    lines.flatMap((line) => {
      const [, one, value] = /^([^:]*):[\t ]*(.*?)[\t ]*$/.exec(line) ?? [];
      return one?.toLowerCase() === name ? [value] : [];
    });
  const site = values('sec-fetch-site');
  const isOwn = site.length > 0 ? site.join(', ') === 'same-origin' : values('origin').join(', ') === ownOrigin;
  if (!isOwn) return false;
  if (method === 'DELETE') return change === 'session' && path === '/session';
  if (method !== 'POST') return false;
  if (path !== (change === 'intent' ? '/intent' : '/session')) return false;
  if (!/^application\/json(?:$|\s*;)/i.test(values('content-type')[0] ?? '')) return false;
  if (values('transfer-encoding').length > 0) return /chunked/i.test(values('transfer-encoding').join());
  try {
    const length = Number(values('content-length')[0]);
    const text = Buffer.from(body, 'latin1').subarray(0, length).toString();
    // On the plain site express.json() is before the router, and passes `{}` for a byte order mark alone.
    const json = isPlain && text === '\ufeff' ? {} : JSON.parse(text.replace(/^\ufeff/, ''));
    const names = change === 'intent' ? ['mode', 'order', 'amount'] : ['id'];
    return Object.keys(json).every((name) => names.includes(name)) && !Array.isArray(json);
  } catch {
    return false;
  }
}
