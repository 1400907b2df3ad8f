import {
  type Check,
  type DoctorContext,
  type Finding,
  failure,
  ok,
  skipped,
  type ValidSettings,
  warning,
} from './check.js';
import { explainNetwork, type TextResponse } from './external-client.js';
import { openApiPath, pathOfOperation, requestSite } from './running-site.js';
import { isLocal } from './settings.js';
import { startApp } from './site.js';

const keyFilePath = '/.well-known/service-payments.json';

/** The verifier key file as a wallet reads it: over https, at the root of the domain (interface section 4.6). */
export const checkKeyFile: Check = async (context) => {
  const { settings, siteUrl, client, signal } = context;
  if (!settings.hasLogin) return [skipped('logins are disabled')];
  const origin = isDevelopment(settings) ? siteUrl?.origin : settings.domain && `https://${settings.domain}`;
  if (origin === undefined) return [skipped(reasonToSkip(context))];
  const url = new URL(keyFilePath, origin);
  let answer: TextResponse;
  try {
    answer = await client.read(url, { headers: { accept: 'application/json' }, signal });
  } catch (error) {
    const { why, fix } = explainNetwork(
      error,
      url.host,
      `Serve the site at ${origin}: the router serves the key file.`,
    );
    return [failure(`${url.href} cannot be read: ${why}.`, fix)];
  }
  if (answer.status === 404) return [await explainMissing(url, context)];
  const wrong = checkAnswer(answer, url);
  if (!wrong) return checkKeys(answer, url, context);
  // A single-page app may answer in place of a router that is mounted under a path.
  return [(answer.status === 200 && (await findMountPath(url, context))) || wrong];
};

/** Reserved top-level domains (RFC 2606, RFC 6761). */
const reserved = /\.(?:example|test|invalid|localhost)$/;

/** Whether the sequencer reads the key file from this machine, not from the domain. */
function isDevelopment({ sequencerUrl, domain }: ValidSettings): boolean {
  if (sequencerUrl === undefined) return false;
  if (sequencerUrl === 'simulator') return true;
  return isLocal(new URL(sequencerUrl).hostname) && domain !== undefined && reserved.test(domain);
}

function reasonToSkip({ settings, env }: DoctorContext): string {
  if (isDevelopment(settings))
    return 'in development the sequencer reads the key file from this machine; pass the URL of the site with --url';
  return env.INTENT_DOMAIN ? 'INTENT_DOMAIN is not valid' : 'INTENT_DOMAIN is not set';
}

/** The router may be mounted under a path, or serve the file elsewhere or not at all. */
async function explainMissing(url: URL, context: DoctorContext): Promise<Finding> {
  const { client, signal } = context;
  const described = await pathOfOperation('getKeyFile', client, new URL(openApiPath, url), signal);
  if (described && described !== url.pathname) {
    return failure(
      `${url.href} answers with status 404: the router serves the key file at ${described}, but wallets read only ${url.pathname}.`,
      'Remove keyFile from the option `routes` of the router.',
    );
  }
  if (described === false) {
    return failure(
      `${url.href} answers with status 404: the router has no key file.`,
      'Remove `login: false` and `routes: { keyFile: false }`. If the site takes payments only, run the doctor with --no-login.',
    );
  }
  const mounted = await findMountPath(url, context);
  if (mounted) return mounted;
  return failure(
    `${url.href} answers with status 404.`,
    'Use app.use(intentRouter()) without a path, before the handler that answers 404. Configure the proxy to forward /.well-known/ to the app.',
  );
}

async function findMountPath(url: URL, { client, signal, siteUrl, site }: DoctorContext): Promise<Finding | undefined> {
  const isSite = siteUrl?.origin === url.origin;
  const running = isSite ? site() : requestSite(client, url, signal);
  const mountPath = await running.then(
    (seen) => seen.mountPath,
    () => '',
  );
  if (!mountPath) return undefined;
  return failure(
    `The router is mounted under ${mountPath}, so wallets cannot find the key file at the root of the domain.`,
    `Use app.use(intentRouter()) without a path, or add app.get('${keyFilePath}', router) before any route that handles all paths. To rename routes, use the option \`routes\`.`,
  );
}

function checkAnswer({ status, headers, text }: TextResponse, url: URL): Finding | undefined {
  if (status >= 300 && status < 400) {
    const { location } = headers;
    const redirect = location === undefined ? 'a redirect without a Location header' : `a redirect to ${location}`;
    return failure(
      `${url.href} is ${redirect}, which wallets do not follow.`,
      `Serve this path at ${url.host} itself, and exclude it from the redirect.`,
    );
  }
  if (status !== 200) {
    const fix =
      'Configure the proxy to forward /.well-known/ to the app. Make sure that no other handler answers this path.';
    return failure(`${url.href} answers with status ${status}.`, status >= 500 ? startApp : fix);
  }
  if (parsePublicKeys(text)) return undefined;
  const what = /^\s*</.test(text) ? 'a web page' : 'not a JSON object with an array public_keys';
  return failure(
    `${url.href} is ${what}.`,
    'Make sure that the router answers this path, not a static file or a single-page app.',
  );
}

function checkKeys({ headers, text }: TextResponse, url: URL, { settings }: DoctorContext): Finding[] {
  const published = parsePublicKeys(text) ?? [];
  const found: Finding[] = [];
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    const type = headers['content-type'];
    const problem = type === undefined ? 'has no Content-Type header' : `has the Content-Type ${type}`;
    found.push(warning(`${url.href} ${problem}.`, 'Send Content-Type: application/json, as the router does.'));
  }
  const { publicKeys } = settings;
  if (publicKeys) found.push(...compareKeys(publicKeys, published));
  return found.length > 0 ? found : [ok(`${url.href} lists ${publicKeys ? 'the key that signs' : 'keys'}`)];
}

function compareKeys([signing = '', ...others]: readonly string[], published: readonly string[]): Finding[] {
  const found: Finding[] = [];
  if (!published.includes(signing)) {
    found.push(
      failure(
        `The key file does not list ${signing}, the key that signs, so every login is refused.`,
        'Restart the site with the INTENT_VERIFIER_SECRET of this environment, or run the doctor with the secret of the site.',
      ),
    );
  }
  const missing = others.filter((key) => !published.includes(key));
  if (missing.length > 0) {
    const fix = 'Restart the site with all secrets: the file must list a key before it signs.';
    found.push(
      warning(`The key file does not list ${missing.join(', ')}, whose secret is set in this environment.`, fix),
    );
  }
  const left = published.filter((key) => key !== signing && !others.includes(key));
  if (left.length > 0) {
    const fix =
      'If the rotation is finished, remove the old secret from the site, and restart the site. If another ' +
      'process signs with this key, give both processes all secrets.';
    found.push(warning(`The key file lists ${left.join(', ')}, whose secret is not set in this environment.`, fix));
  }
  return found;
}

function parsePublicKeys(text: string): readonly string[] | undefined {
  try {
    const { public_keys: keys } = JSON.parse(text) as { public_keys?: unknown };
    return Array.isArray(keys) ? keys.map(String) : undefined;
  } catch {
    return undefined;
  }
}
