import { doctorHeader, type ProxyReport, parseReport, spoofedAddress } from '../../http/operations/proxy-report.js';
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
import { readProblem } from './external-client.js';
import { noSite, rejectedBody } from './site.js';

/**
 * Whether the site sees the addresses of visitors: the site reports how requests of the doctor arrive. The first request has no
 * `X-Forwarded-For`, so proxies added every address in it, and the site must trust them all. The second request claims an address
 * in this header, which the site must not accept.
 */
export const checkProxy: Check = async (context) => {
  const { siteUrl, settings } = context;
  if (!siteUrl) return [noSite];
  const routes = await routesOf(context);
  if (!routes?.intent) return [noRoute('intent')];
  const { doctorToken } = settings;
  if (doctorToken === undefined)
    return [skipped(settings.hasLogin ? 'a setting is not valid; see the check `settings`' : 'logins are disabled')];
  const url = new URL(routes.intent, siteUrl);
  const [plain, spoofing] = await Promise.all([
    requestReport(url, doctorToken, {}, context),
    requestReport(url, doctorToken, { 'x-forwarded-for': spoofedAddress }, context),
  ]);
  if (typeof plain === 'string') return [skipped(plain)];
  if (typeof spoofing === 'string') return [skipped(spoofing)];
  return [checkSpoofing(plain, spoofing, siteUrl) ?? checkTrust(plain, siteUrl) ?? seesVisitors(plain)];
};

const notRecognized =
  'the site did not recognize the doctor. Run the doctor with the secrets, INTENT_DOMAIN, INTENT_ORIGIN and package version of the site';

/** Returns the reason if the site sends no report. */
async function requestReport(
  url: URL,
  token: string,
  extra: Readonly<Record<string, string>>,
  { client, signal, siteUrl }: DoctorContext,
): Promise<ProxyReport | string> {
  const headers = {
    origin: siteUrl?.origin ?? '',
    'content-type': 'application/json',
    [doctorHeader]: token,
    ...extra,
  };
  const answer = await client.read(url, { method: 'POST', headers, body: rejectedBody, signal });
  const report = parseReport(answer.headers[doctorHeader.toLowerCase()]);
  if (report) return report;
  // The router answers every error with a code.
  if (readProblem(answer.text).code !== undefined) return notRecognized;
  return `the request did not reach the router: POST ${url.pathname} answers with status ${answer.status}; see the check \`origin\``;
}

const countProxies = (count: number): string => (count === 1 ? '1 proxy' : `${count} proxies`);

const trustProxyFix = (count: number): string =>
  `Call app.set('trust proxy', ${count}), because ${countProxies(count)} forward${count === 1 ? 's' : ''} the requests.`;

/** If an https request arrives unencrypted, a proxy has terminated TLS. */
const hasProxy = ({ proxied, encrypted }: ProxyReport, { protocol }: URL): boolean =>
  proxied || (protocol === 'https:' && !encrypted);

function checkTrust(plain: ProxyReport, siteUrl: URL): Finding | undefined {
  const { forwarded, trusted } = plain;
  if (hasProxy(plain, siteUrl) && forwarded === 0) {
    return failure(
      'The proxy does not forward the address of visitors: all visitors share one rate limit.',
      "Configure the proxy to send X-Forwarded-For and X-Forwarded-Proto, and call app.set('trust proxy', 1), where 1 is the number of proxies.",
    );
  }
  if (forwarded > 0 && trusted === 0) {
    return failure(
      "The site is behind a proxy, but 'trust proxy' is not set or does not include it: all visitors share one rate limit.",
      trustProxyFix(forwarded),
    );
  }
  if (siteUrl.protocol === 'https:' && !plain.secure) {
    return failure(
      'The site does not know that its visitors use https. express-session with `cookie.secure: true` then sends no cookie, so logins are lost.',
      'Configure the proxy to send X-Forwarded-Proto: https.',
    );
  }
  if (trusted === forwarded) return undefined;
  return warning(
    `The site is behind ${countProxies(forwarded)}, but 'trust proxy' covers only ${trusted} of them: visitors share the address of a proxy.`,
    trustProxyFix(forwarded),
  );
}

const overwriteFix =
  'Configure the first proxy to overwrite X-Forwarded-For with the address of the client. In HAProxy: http-request set-header ' +
  'X-Forwarded-For %[src], without option forwardfor. In nginx: proxy_set_header X-Forwarded-For $remote_addr;';

/** The site must not trust the spoofed address. A proxy keeps it unless it overwrites the header. */
function checkSpoofing(plain: ProxyReport, spoofing: ProxyReport, siteUrl: URL): Finding | undefined {
  if (!spoofing.spoofed) return undefined;
  const symptom = 'Clients can claim any address with X-Forwarded-For, so limits by address have no effect';
  if (!hasProxy(plain, siteUrl)) {
    return failure(
      `${symptom}.`,
      "Remove app.set('trust proxy'), or configure the proxy to overwrite X-Forwarded-For.",
    );
  }
  if (plain.forwarded > 0 && spoofing.forwarded > plain.forwarded) {
    return failure(
      `${symptom}.`,
      `${trustProxyFix(plain.forwarded)} Configure the first proxy to overwrite X-Forwarded-For.`,
    );
  }
  return failure(`${symptom}: the proxy passes on the header of the client.`, overwriteFix);
}

function seesVisitors({ forwarded }: ProxyReport): Finding {
  const proxies = forwarded === 0 ? 'without a proxy' : `behind ${countProxies(forwarded)}`;
  return ok(`the site sees the address of visitors, ${proxies}`);
}
