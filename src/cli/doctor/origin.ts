import type { Check, DoctorContext } from './check.js';
import { type Finding, fault, ok, skipped } from './finding.js';
import { readProblem } from './read-problem.js';
import { noSite } from './site.js';

/**
 * Whether the site takes what its own pages send and refuses what others do, which shows whether it knows its origin behind
 * a proxy. The body is no JSON, so that nothing is created.
 */
export const origin: Check = async (context) => {
  const { siteUrl, site, settings } = context;
  if (!siteUrl) return [noSite];
  const routes = await site().then(
    (seen) => seen.routes,
    () => undefined,
  );
  if (!routes?.intent) return [skipped('the route that creates intents was not found')];
  const url = new URL(routes.intent, siteUrl);
  const own = settings.origin ?? siteUrl.origin;
  const [asOwn, asStranger] = await Promise.all([
    knock(url, own, context),
    knock(url, 'https://stranger.invalid', context),
  ]);
  if (asStranger.code !== 'cross_site_request' && asStranger.code === asOwn.code && asOwn.code === 'invalid_json') {
    const mend = 'Let the proxy pass the header Origin as it came, and not one of its own.';
    return [fault('What another site sends is taken as if a page of this site had sent it.', mend)];
  }
  if (asOwn.code === 'invalid_json') return [ok(`what ${own} sends is taken, and what others send is not`)];
  if (asOwn.code !== 'cross_site_request') return [unexpected(asOwn, url)];
  return [await whyRefused(url, own, context)];
};

interface Knocked {
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string;
}

/** As a program does that says where it comes from. */
async function knock(url: URL, from: string, { visitor, signal }: DoctorContext): Promise<Knocked> {
  const headers = { origin: from, 'content-type': 'application/json' };
  const { status, text } = await visitor.read(url, { method: 'POST', headers, body: '{', signal });
  return { status, ...readProblem(text) };
}

async function whyRefused(url: URL, own: string, context: DoctorContext): Promise<Finding> {
  const { host, protocol } = url;
  if (protocol === 'https:' && (await knock(url, `http://${host}`, context)).code === 'invalid_json') {
    return fault(
      `The site takes itself for http://${host}, and refuses what its pages at https://${host} send.`,
      "app.set('trust proxy', 1), and let the proxy send X-Forwarded-Proto; or set INTENT_ORIGIN for the site.",
    );
  }
  const { detail } = await knock(url, own, context);
  const [, known] = /'Origin: (https?:\/\/[^']+)'/.exec(detail) ?? [];
  if (known !== undefined) {
    return fault(
      `The running site has INTENT_ORIGIN=${known}, and refuses what ${own} sends.`,
      `INTENT_ORIGIN=${own}, for the site`,
    );
  }
  return fault(
    `The site refuses what its own pages at ${own} send: it sees another host or scheme than people do.`,
    `INTENT_ORIGIN=${own}, for the site; or let the proxy pass the header Host, and set 'trust proxy'.`,
  );
}

function unexpected({ status, code }: Knocked, url: URL): Finding {
  if (status === 429) return skipped('the site has counted too many requests from here; ask again in a minute');
  const what = code === undefined ? `status ${status}` : `${status} ${code}`;
  return fault(
    `${url.pathname} answers ${what} where it should say that the body is no JSON.`,
    'Put the router in front of what answers there: a body parser, a csrf guard, a firewall.',
  );
}
