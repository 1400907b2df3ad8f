import type { Check } from './check.js';
import { fault, ok, skipped } from './finding.js';
import { readProblem } from './read-problem.js';
import { noSite } from './site.js';

const path = '/intent/webhook';

/** The route that the payment service calls, where webhooks are on. What is sent is of a type that it refuses unread. */
export const webhook: Check = async ({ settings, siteUrl, visitor, signal }) => {
  if (!settings.takesWebhooks) return [skipped('not used: INTENT_SERVICE_KEY is not set')];
  if (!siteUrl) return [noSite];
  const headers = { 'content-type': 'text/plain' };
  const { status, text } = await visitor.read(new URL(path, siteUrl), {
    method: 'POST',
    headers,
    body: 'doctor',
    signal,
  });
  if (readProblem(text).code === 'unsupported_media_type') return [ok(`${siteUrl.origin}${path} is there`)];
  if (status === 429) return [skipped('the site has counted too many requests from here; ask again in a minute')];
  return [
    fault(
      `${siteUrl.origin}${path} answers with status ${status}: the calls of the service do not get through.`,
      'intentRouter({ webhook: true }), and let the proxy or the firewall pass POST to this path from anywhere.',
    ),
  ];
};
