import { withTimeout } from '../../async/timeout.js';
import { generateKey } from '../../keys/verifier-key.js';
import { type Check, type DoctorContext, type Finding, fault, ok, skipped, warning } from './check.js';
import { noSite } from './site.js';
import { type Answer, type ReadAnswer, readProblem, type SiteRoutes } from './visitor.js';

/** A service that takes so long to answer leaves time to see whether the first event waits for the last, in milliseconds. */
const tellingMs = 20;
/** How long the first event is waited for, in milliseconds. */
const patienceOf = ({ world }: Pick<DoctorContext, 'world'>): number => Math.min(3_000, world.checkMs / 2);

/** The live events, for an intent that nobody has made: the first has to come at once, whatever is on the way. */
export const events: Check = async (context) => {
  const { siteUrl, site } = context;
  if (!siteUrl) return [noSite];
  const routes = await site().then(
    (seen) => seen.routes,
    () => undefined,
  );
  if (!routes?.events) return [skipped('the route of the events was not found')];
  const service = await askSite(siteUrl, routes, context);
  if ('finding' in service) return [service.finding];
  const url = new URL(`${routes.events}/${generateKey().publicKey}/events`, siteUrl);
  let answer: Answer;
  try {
    // As browsers ask: whoever compresses on the way does so now.
    const headers = { accept: 'text/event-stream', 'accept-encoding': 'gzip, deflate, br' };
    const ask = (signal: AbortSignal): Promise<Answer> => context.visitor.ask(url, { headers, signal });
    answer = await withTimeout(patienceOf(context), ask, { signal: context.signal });
  } catch {
    return [heldBack('No answer comes')];
  }
  const wrong = await lookAtHead(answer);
  if (wrong) return [wrong];
  return [await lookAtEvents(answer, service.tookMs, patienceOf(context))];
};

/** Whether the site gets an answer from its sequencer, and how long that takes it; a site without the route is as quick as can be. */
async function askSite(
  siteUrl: URL,
  { status: path }: SiteRoutes,
  { visitor, signal }: DoctorContext,
): Promise<{ readonly tookMs: number } | { readonly finding: Finding }> {
  if (!path) return { tookMs: 0 };
  const ask = (id: string) => visitor.read(new URL(`${path}/${id}`, siteUrl), { signal });
  let [aloneMs, askedMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let asked: ReadAnswer;
  // Twice, of which the quicker counts: what else goes on here and there makes no call faster.
  for (let times = 0; ; times += 1) {
    // An id of the wrong form is answered by the site alone.
    aloneMs = Math.min(aloneMs, (await ask('1')).tookMs);
    asked = await ask(generateKey().publicKey);
    askedMs = Math.min(askedMs, asked.tookMs);
    if (asked.status !== 200) break;
    if (times === 1) return { tookMs: askedMs - aloneMs };
  }
  const { code = '' } = readProblem(asked.text);
  const text = `The site cannot tell the status of an intent: ${asked.status} ${code}`.trim();
  const mend = 'See the lines on the sequencer above, and the log of the site, which has the reason.';
  return { finding: fault(`${text}.`, mend) };
}

async function lookAtHead({ status, headers, body }: Answer): Promise<Finding | undefined> {
  const { 'content-type': type = 'no content type', 'content-encoding': encoding = 'identity' } = headers;
  const cache = headers['cache-control'] ?? '';
  let wrong: Finding | undefined;
  if (status === 429) wrong = skipped('too many streams of events are open from here');
  else if (status !== 200 || !type.startsWith('text/event-stream')) {
    const mend = 'Let the proxy pass this path to the app, and nothing in front of the router answer it.';
    wrong = fault(`The events are answered with status ${status} and ${type}.`, mend);
  } else if (encoding !== 'identity') {
    const mend = 'Leave text/event-stream out of what is compressed, in the proxy and in the app.';
    wrong = fault(`The events are compressed on their way (${encoding}), which holds them back.`, mend);
  } else if (!cache.includes('no-store') || headers.age !== undefined) {
    const mend =
      'Let the proxy or the CDN cache nothing below the path of the events, and leave Cache-Control as it is.';
    wrong = fault('Something on the way may keep the events and give them to others.', mend);
  }
  if (wrong) body.destroy();
  return wrong;
}

/** The site greets at once and then asks its sequencer: who gets both in one piece got the first one late. */
async function lookAtEvents({ body, tookMs }: Answer, serviceMs: number, patienceMs: number): Promise<Finding> {
  const begunAt = performance.now();
  const late = setTimeout(() => body.destroy(new Error('The events do not come.')), patienceMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const firstMs = Math.round(tookMs + performance.now() - begunAt);
      const isWhole = chunk.includes('event: status');
      if (!isWhole) return ok(`the first comes after ${firstMs} ms, before the rest`);
      if (serviceMs >= tellingMs) return heldBack('The first event comes with the last');
      return ok(`they come after ${firstMs} ms`);
    }
    return warning('The stream of events ends without one.', 'See the log of the site.');
  } catch {
    return heldBack('No event comes');
  } finally {
    clearTimeout(late);
  }
}

/** @param what is seen of it */
const heldBack = (what: string): Finding =>
  fault(
    `${what}: something on the way collects the events, and pages wait for what has happened.`,
    'Switch off buffering in the proxy for this path; in nginx: proxy_buffering off; proxy_http_version 1.1;',
  );
