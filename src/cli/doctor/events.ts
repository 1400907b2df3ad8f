import { setTimeout } from 'node:timers/promises';
import { withTimeout } from '../../async/timeout.js';
import { streamLimitFix } from '../../http/limits/connection-limiter.js';
import { generateKeyPair } from '../../keys/verifier-key.js';
import {
  type Check,
  type DoctorContext,
  type Finding,
  failure,
  noRoute,
  ok,
  routesOf,
  skipped,
  warning,
} from './check.js';
import { type ExternalResponse, readProblem, readText, type TextResponse } from './external-client.js';
import type { SiteRoutes } from './running-site.js';
import { isAppDown, noSite, rateLimited, shuttingDown, startApp } from './site.js';

/** If the service answers faster than this, in milliseconds, a proxy that buffers cannot be detected. */
const slowServiceMs = 20;
const serviceTooFast = `the sequencer may answer within ${slowServiceMs} ms, and then all events arrive together`;

const eventsTogether = 'The first two events arrive together';

const firstEventMs = ({ host }: DoctorContext): number => Math.min(3_000, host.checkTimeoutMs / 5);

/** What one stream shows. A stream is held back if its first event arrives with the second, or does not arrive. */
type StreamResult =
  | { readonly finding: Finding }
  | {
      readonly symptom: string;
      /** How long the first event was held back, in milliseconds. */
      readonly heldMs: number;
    };

/** The live events of an intent that does not exist. The first must arrive immediately, through every proxy. */
export const checkEvents: Check = async (context) => {
  const { siteUrl } = context;
  if (!siteUrl) return [noSite];
  const routes = await routesOf(context);
  if (!routes?.events) return [noRoute('events')];
  const service = await measureService(siteUrl, routes, context);
  if ('finding' in service) return [service.finding];
  const endsAtMs = performance.now() + context.host.checkTimeoutMs / 2;
  // A busy machine can delay one stream. A proxy that buffers delays every stream.
  for (let [tries, quietTries] = [1, 0]; ; tries += 1) {
    const url = new URL(`${routes.events}/${generateKeyPair().publicKey}/events`, siteUrl);
    const control = startControlRequests(siteUrl, routes, context);
    const result = await checkEventStream(url, service.tookMs, context);
    const slowestMs = await control.stop();
    if ('finding' in result) return [result.finding];
    // A buffer explains the delay of the stream only if plain requests at the same time were not delayed.
    if (slowestMs - service.siteOnlyMs < result.heldMs / 3) quietTries += 1;
    if (tries < 3) continue;
    if (quietTries > 1) return [await confirmHeldBack(result.symptom, () => measureService(siteUrl, routes, context))];
    if (tries === 6 || performance.now() > endsAtMs) return [undecided('plain requests are delayed too')];
  }
};

/** The tries show that the machine is quiet, but load can have delayed the first measurement of the service. */
async function confirmHeldBack(symptom: string, measure: () => ReturnType<typeof measureService>): Promise<Finding> {
  if (symptom === eventsTogether) {
    const service = await measure();
    if ('finding' in service) return service.finding;
    if (service.tookMs < slowServiceMs) return undecided(serviceTooFast);
  }
  return heldBack(symptom);
}

const undecided = (reason: string): Finding => skipped(`cannot tell whether a proxy buffers the events: ${reason}`);

/** Sends plain requests while a stream is open. They show how much load delays answers. */
function startControlRequests(siteUrl: URL, { status: path }: SiteRoutes, { client, signal }: DoctorContext) {
  const stopped = new AbortController();
  const ended = AbortSignal.any([stopped.signal, signal]);
  const requests = async (): Promise<number> => {
    let slowestMs = 0;
    // The pauses double, so the requests reach no rate limit while a stream is held back for seconds.
    for (let pauseMs = 4; path && !ended.aborted; pauseMs = Math.min(2 * pauseMs, 256)) {
      const startedAt = performance.now();
      const delayMs = (): number => performance.now() - startedAt;
      await client.read(new URL(`${path}/${malformedId}`, siteUrl), { signal: ended }).catch(() => undefined);
      slowestMs = Math.max(slowestMs, delayMs());
      // A pause that ends late shows load too.
      await setTimeout(pauseMs, undefined, { signal: ended }).catch(() => undefined);
      slowestMs = Math.max(slowestMs, delayMs() - pauseMs);
    }
    return slowestMs;
  };
  const running = requests();
  return {
    stop: (): Promise<number> => {
      stopped.abort();
      return running;
    },
  };
}

async function checkEventStream(url: URL, serviceMs: number, context: DoctorContext): Promise<StreamResult> {
  const timeoutMs = firstEventMs(context);
  let answer: ExternalResponse;
  try {
    // The headers of a browser: a proxy that compresses responses then compresses this one too.
    const headers = { accept: 'text/event-stream', 'accept-encoding': 'gzip, deflate, br' };
    const sendRequest = (signal: AbortSignal): Promise<ExternalResponse> =>
      context.client.send(url, { headers, signal });
    answer = await withTimeout(timeoutMs, sendRequest, { signal: context.signal });
  } catch {
    return { symptom: 'The response does not arrive', heldMs: timeoutMs };
  }
  const wrong = (await explainRefusal(answer)) ?? checkHead(answer);
  return wrong ? { finding: wrong } : checkFirstEvent(answer, serviceMs, timeoutMs);
}

/** The site rejects this id without a call to its sequencer. */
const malformedId = '1';

interface ServiceTimes {
  /** How long the sequencer of the site takes to answer. Zero without a status route. */
  readonly tookMs: number;
  /** How long the site takes to answer a request that needs no call to its sequencer. */
  readonly siteOnlyMs: number;
}

/** Measures the site and its sequencer. Returns a finding if the sequencer does not answer. */
async function measureService(
  siteUrl: URL,
  { status: path }: SiteRoutes,
  { client, signal }: DoctorContext,
): Promise<ServiceTimes | { readonly finding: Finding }> {
  if (!path) return { tookMs: 0, siteOnlyMs: 0 };
  const readStatus = (id: string) => client.read(new URL(`${path}/${id}`, siteUrl), { signal });
  let [siteOnlyMs, statusMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let answer: TextResponse;
  // The fastest of three calls, because load only makes a call slower.
  for (let times = 1; ; times += 1) {
    siteOnlyMs = Math.min(siteOnlyMs, (await readStatus(malformedId)).tookMs);
    answer = await readStatus(generateKeyPair().publicKey);
    statusMs = Math.min(statusMs, answer.tookMs);
    if (answer.status !== 200) break;
    if (times === 3) return { tookMs: statusMs - siteOnlyMs, siteOnlyMs };
  }
  if (answer.status === 429) return { finding: rateLimited };
  const { code = '' } = readProblem(answer.text);
  if (code === 'closing') return { finding: shuttingDown };
  const text = `The site does not report the status of an intent: ${answer.status} ${code}`.trim();
  const fix = 'See the checks `sequencer`, `stream` and `grpc` above, and the log of the site for the reason.';
  return { finding: failure(`${text}.`, fix) };
}

/** The router itself answers 503 at its limit of streams, and while it closes; a proxy, if the app is down. */
async function explainRefusal({ status, body }: ExternalResponse): Promise<Finding | undefined> {
  if (status < 502 || status > 504) return undefined;
  const { code } = readProblem(await readText(body).catch(() => ''));
  if (code === 'closing') return shuttingDown;
  if (isAppDown(status, code)) return failure(`The event stream answers with status ${status}.`, startApp);
  if (code !== 'too_busy') return undefined;
  return failure('The event stream answers with status 503 too_busy.', streamLimitFix);
}

function checkHead({ status, headers, body }: ExternalResponse): Finding | undefined {
  const { 'content-type': type = 'no content type', 'content-encoding': encoding = 'identity' } = headers;
  const cache = headers['cache-control'] ?? '';
  let wrong: Finding | undefined;
  if (status === 429)
    wrong = skipped(
      'the limit of event streams or requests for this machine is reached; close other pages, then run the doctor again in a minute',
    );
  else if (status !== 200 || !type.startsWith('text/event-stream')) {
    const fix = 'Configure the proxy to pass this path to the app. Make sure that no other handler answers this path.';
    wrong = failure(`The event stream answers with status ${status} and ${type}.`, fix);
  } else if (encoding !== 'identity') {
    const fix = 'Exclude text/event-stream from compression, in the proxy and in the app.';
    wrong = failure(`A proxy or the app compresses the event stream (${encoding}), which delays events.`, fix);
  } else if (!cache.includes('no-store') || headers.age !== undefined) {
    const fix = 'Disable caching for this path in the proxy and the CDN, and do not change Cache-Control.';
    wrong = failure('A cache may keep the event stream and serve it to other visitors.', fix);
  }
  if (wrong) body.destroy();
  return wrong;
}

/** The site sends `retry` immediately, and the event `status` after its sequencer answers. Both in one chunk indicate a buffer. */
async function checkFirstEvent(
  { body, tookMs }: ExternalResponse,
  serviceMs: number,
  timeoutMs: number,
): Promise<StreamResult> {
  const startedAt = performance.now();
  const timer = globalThis.setTimeout(() => body.destroy(new Error('No event arrived.')), timeoutMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const firstMs = Math.round(tookMs + performance.now() - startedAt);
      const hasBoth = chunk.includes('event: status');
      if (!hasBoth) return { finding: ok(`first event after ${firstMs} ms`) };
      if (serviceMs < slowServiceMs) return { finding: undecided(serviceTooFast) };
      return { symptom: eventsTogether, heldMs: serviceMs };
    }
    const fix = 'See the log of the site.';
    return { finding: warning('The event stream ends without an event.', fix) };
  } catch {
    return { symptom: 'No event arrives', heldMs: timeoutMs };
  } finally {
    clearTimeout(timer);
  }
}

const heldBack = (symptom: string): Finding =>
  failure(
    `${symptom}: a proxy buffers the event stream, and pages show events late.`,
    'Turn off buffering for this path in the proxy. In nginx: proxy_buffering off; proxy_http_version 1.1;',
  );
