import { doctorHeader, type ProxyReport, parseReport } from '../../http/operations/proxy-report.js';
import { type Check, type DoctorContext, type Finding, failure, ok, routesOf, skipped, warning } from './check.js';
import { noSite, rejectedBody } from './site.js';

/** Reserved for documentation (RFC 5737): no visitor has it. */
const claimedAddress = '192.0.2.1';

/**
 * Whether the site sees the addresses of visitors: the site reports how requests of the doctor arrive. The doctor sends no
 * `X-Forwarded-For`, so proxies wrote all its addresses, and the site must trust them all. In a second request the doctor claims
 * an address, which the site must not accept.
 */
export const proxy: Check = async (context) => {
  const { siteUrl, settings } = context;
  if (!siteUrl) return [noSite];
  const routes = await routesOf(context);
  if (!routes?.intent)
    return [skipped('the route `intent` is disabled, or the site did not respond; see the check `site`')];
  const { doctorToken } = settings;
  if (doctorToken === undefined) return [skipped('logins are disabled, or a setting is not valid')];
  const url = new URL(routes.intent, siteUrl);
  const [plain, claiming] = await Promise.all([
    requestReport(url, doctorToken, {}, context),
    requestReport(url, doctorToken, { 'x-forwarded-for': claimedAddress }, context),
  ]);
  if (!plain || !claiming)
    return [
      skipped(
        'the site has other secrets or another INTENT_ORIGIN than this environment, or an older version of the package',
      ),
    ];
  return [checkTrust(plain, siteUrl) ?? checkClaim(plain, claiming) ?? seesVisitors(plain)];
};

async function requestReport(
  url: URL,
  token: string,
  extra: Readonly<Record<string, string>>,
  { client, signal, siteUrl }: DoctorContext,
): Promise<ProxyReport | undefined> {
  const headers = {
    origin: siteUrl?.origin ?? '',
    'content-type': 'application/json',
    [doctorHeader]: token,
    ...extra,
  };
  const answer = await client.read(url, { method: 'POST', headers, body: rejectedBody, signal });
  return parseReport(answer.headers[doctorHeader.toLowerCase()]);
}

const countProxies = (count: number): string => (count === 1 ? '1 proxy' : `${count} proxies`);

const callTrustProxy = (count: number): string =>
  `Call app.set('trust proxy', ${count}), because ${countProxies(count)} forward${count === 1 ? 's' : ''} the requests.`;

function checkTrust({ forwarded, trusted, proxied, encrypted }: ProxyReport, { protocol }: URL): Finding | undefined {
  // TLS that ends before the site ends in a proxy.
  const hasProxy = proxied || (protocol === 'https:' && !encrypted);
  if (hasProxy && forwarded === 0) {
    return failure(
      'The proxy does not forward the address of visitors: all visitors share one rate limit.',
      "Let the proxy send X-Forwarded-For and X-Forwarded-Proto, and call app.set('trust proxy', 1), where 1 is the number of proxies.",
    );
  }
  if (forwarded > 0 && trusted === 0) {
    return failure(
      "The site is behind a proxy, but 'trust proxy' is not set or does not include it: all visitors share one rate limit.",
      callTrustProxy(forwarded),
    );
  }
  if (trusted === forwarded) return undefined;
  return warning(
    `The site is behind ${countProxies(forwarded)}, but 'trust proxy' includes ${trusted}: visitors share the address of a proxy.`,
    callTrustProxy(forwarded),
  );
}

/** A proxy that overwrites the header adds no address. One that appends adds the claimed one, which must not be trusted. */
function checkClaim(plain: ProxyReport, claiming: ProxyReport): Finding | undefined {
  if (claiming.forwarded === plain.forwarded || claiming.trusted < claiming.forwarded) return undefined;
  return failure(
    'Clients can claim any address with X-Forwarded-For, so limits by address have no effect.',
    plain.forwarded > 0
      ? `${callTrustProxy(plain.forwarded)} Let the first proxy overwrite X-Forwarded-For.`
      : "Remove app.set('trust proxy'), or let the proxy overwrite X-Forwarded-For.",
  );
}

function seesVisitors({ forwarded }: ProxyReport): Finding {
  const proxies = forwarded === 0 ? 'without a proxy' : `behind ${countProxies(forwarded)}`;
  return ok(`the site sees the address of visitors, ${proxies}`);
}
