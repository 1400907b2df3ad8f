import { type Check, type DoctorContext, type Finding, fault, ok, skipped, warning } from './check.js';
import { explainNetwork } from './explain.js';
import { isDevelopment } from './valid-settings.js';
import type { ReadAnswer } from './visitor.js';

const keyFilePath = '/.well-known/service-payments.json';

/** The verifier key file, as a wallet looks for it: over https, at the root of the domain (interface section 4.6). */
export const keyFile: Check = async (context) => {
  const { settings, siteUrl, visitor, signal } = context;
  const origin = isDevelopment(settings) ? siteUrl?.origin : settings.domain && `https://${settings.domain}`;
  if (origin === undefined) return [skipped(whyNot(context))];
  const url = new URL(keyFilePath, origin);
  let answer: ReadAnswer;
  try {
    answer = await visitor.read(url, { headers: { accept: 'application/json' }, signal });
  } catch (error) {
    const { why, mend } = explainNetwork(error, url.host, `Serve the site at ${origin}: the router has the key file.`);
    return [fault(`${url.href} cannot be read: ${why}.`, mend)];
  }
  const wrong = findWrong(answer, url);
  return wrong ? [wrong] : lookAtKeys(answer, url, context);
};

function whyNot({ settings, problems }: DoctorContext): string {
  if (isDevelopment(settings)) return 'for development the sequencer reads it on this machine; --url shows where';
  const isWrong = problems.some(({ setting }) => setting === 'INTENT_DOMAIN');
  return isWrong ? 'there is no right INTENT_DOMAIN to read it at' : 'logins are switched off';
}

/** What makes an answer no key file at all. */
function findWrong({ status, headers, text }: ReadAnswer, url: URL): Finding | undefined {
  if (status >= 300 && status < 400) {
    return fault(
      `${url.href} is a redirect to ${headers.location ?? 'nowhere'}, which wallets do not follow.`,
      `Answer this path at ${url.host} itself, and leave it out of the redirect.`,
    );
  }
  if (status !== 200) {
    return fault(
      `${url.href} is answered with status ${status}.`,
      'app.use(intentRouter()) without a path, in front of what answers 404; and let the proxy pass /.well-known/ to the app.',
    );
  }
  if (parsePublicKeys(text)) return undefined;
  const what = /^\s*</.test(text) ? 'a web page' : 'no JSON object with an array public_keys';
  return fault(
    `${url.href} is ${what}.`,
    'Let the router answer this path, not a static file and not the page of a single-page app.',
  );
}

function lookAtKeys({ headers, text }: ReadAnswer, url: URL, { settings }: DoctorContext): Finding[] {
  const published = parsePublicKeys(text) ?? [];
  const found: Finding[] = [];
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    const type = headers['content-type'] ?? 'no content type';
    found.push(warning(`${url.href} comes as ${type}.`, 'Send Content-Type: application/json, as the router does.'));
  }
  const { publicKeys } = settings;
  if (publicKeys) found.push(...compare(publicKeys, published));
  return found.length > 0 ? found : [ok(`${url.href} lists ${publicKeys ? 'the key that signs' : 'keys'}`)];
}

function compare([signing = '', ...others]: readonly string[], published: readonly string[]): Finding[] {
  const found: Finding[] = [];
  if (!published.includes(signing)) {
    found.push(
      fault(
        `The key file does not list ${signing}, which signs: every login is refused.`,
        'Restart the site with the INTENT_VERIFIER_SECRET that is set here, or set here what the site has.',
      ),
    );
  }
  const missing = others.filter((key) => !published.includes(key));
  if (missing.length > 0) {
    const mend = 'Restart the site with all the secrets, so that the file lists the next key before it signs.';
    found.push(warning(`The key file does not list ${missing.join(', ')}, which the secrets here have as well.`, mend));
  }
  const left = published.filter((key) => key !== signing && !others.includes(key));
  if (left.length > 0) {
    const mend = 'After a rotation take it out; where another process signs with it, give both all of the secrets.';
    found.push(warning(`The key file lists ${left.join(', ')}, of which there is no secret here.`, mend));
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
