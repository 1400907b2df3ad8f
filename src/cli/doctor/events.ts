import { withTimeout } from '../../async/timeout.js';
import { generateKeyPair } from '../../keys/verifier-key.js';
import { type Check, type DoctorContext, type Finding, failure, ok, routesOf, skipped, warning } from './check.js';
import { type Answer, type ReadAnswer, readProblem } from './external-client.js';
import type { SiteRoutes } from './running-site.js';
import { noSite } from './site.js';

/** If the service answers faster than this, in milliseconds, a proxy that buffers cannot be detected. */
const slowServiceMs = 20;

const firstEventMs = ({ host }: DoctorContext): number => Math.min(3_000, host.checkMs / 4);

/** The live events of an intent that does not exist. The first must arrive at once, through every proxy. */
export const events: Check = async (context) => {
  const { siteUrl } = context;
  if (!siteUrl) return [noSite];
  const routes = await routesOf(context);
  if (!routes?.events)
    return [skipped('the route `events` is disabled, or the site did not respond; see the check `site`')];
  const service = await measureService(siteUrl, routes, context);
  if ('finding' in service) return [service.finding];
  const url = new URL(`${routes.events}/${generateKeyPair().publicKey}/events`, siteUrl);
  const first = await checkStream(url, service.tookMs, context);
  // A busy machine can delay one stream. A proxy that buffers delays every stream.
  return [first.level === 'ok' ? first : await checkStream(url, service.tookMs, context)];
};

async function checkStream(url: URL, serviceMs: number, context: DoctorContext): Promise<Finding> {
  let answer: Answer;
  try {
    // The headers of a browser, so that a proxy that compresses does so.
    const headers = { accept: 'text/event-stream', 'accept-encoding': 'gzip, deflate, br' };
    const ask = (signal: AbortSignal): Promise<Answer> => context.client.ask(url, { headers, signal });
    answer = await withTimeout(firstEventMs(context), ask, { signal: context.signal });
  } catch {
    return heldBack('The response does not arrive');
  }
  const wrong = checkHead(answer);
  return wrong ?? checkFirstEvent(answer, serviceMs, firstEventMs(context));
}

/** How long the sequencer of the site takes to answer, or why it does not. Zero without a status route. */
async function measureService(
  siteUrl: URL,
  { status: path }: SiteRoutes,
  { client, signal }: DoctorContext,
): Promise<{ readonly tookMs: number } | { readonly finding: Finding }> {
  if (!path) return { tookMs: 0 };
  const ask = (id: string) => client.read(new URL(`${path}/${id}`, siteUrl), { signal });
  let [aloneMs, askedMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let asked: ReadAnswer;
  // The faster of two calls, because load only makes a call slower.
  for (let times = 0; ; times += 1) {
    // The site refuses a malformed id without its sequencer.
    aloneMs = Math.min(aloneMs, (await ask('1')).tookMs);
    asked = await ask(generateKeyPair().publicKey);
    askedMs = Math.min(askedMs, asked.tookMs);
    if (asked.status !== 200) break;
    if (times === 1) return { tookMs: askedMs - aloneMs };
  }
  const { code = '' } = readProblem(asked.text);
  const text = `The site does not report the status of an intent: ${asked.status} ${code}`.trim();
  const fix = 'See the checks `sequencer` and `stream` above, and the log of the site for the reason.';
  return { finding: failure(`${text}.`, fix) };
}

function checkHead({ status, headers, body }: Answer): Finding | undefined {
  const { 'content-type': type = 'no content type', 'content-encoding': encoding = 'identity' } = headers;
  const cache = headers['cache-control'] ?? '';
  let wrong: Finding | undefined;
  if (status === 429)
    wrong = skipped('the limit of event streams for this machine is reached; close other pages, and run it again');
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

/** The site sends the first event immediately, and the second after its sequencer answers. Both in one chunk indicate a buffer. */
async function checkFirstEvent({ body, tookMs }: Answer, serviceMs: number, timeoutMs: number): Promise<Finding> {
  const startedAt = performance.now();
  const timer = setTimeout(() => body.destroy(new Error('No event arrived.')), timeoutMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const firstMs = Math.round(tookMs + performance.now() - startedAt);
      const hasBoth = chunk.includes('event: status');
      if (!hasBoth) return ok(`the first arrives after ${firstMs} ms, before the others`);
      if (serviceMs >= slowServiceMs) return heldBack('The first event arrives with the last');
      return ok(`they arrive after ${firstMs} ms`);
    }
    return warning('The event stream ends without an event.', 'See the log of the site.');
  } catch {
    return heldBack('No event arrives');
  } finally {
    clearTimeout(timer);
  }
}

const heldBack = (symptom: string): Finding =>
  failure(
    `${symptom}: a proxy buffers the event stream, and pages show events late.`,
    'Turn off buffering for this path in the proxy. In nginx: proxy_buffering off; proxy_http_version 1.1;',
  );
