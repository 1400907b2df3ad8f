import { parseSetCookie } from 'cookie';
import { parseClientSecret } from '../../intents/payload.js';
import { intentIdOf, rendezvousKeyPair } from '../../intents/rendezvous.js';
import { timed } from '../../ledger/bounded.js';
import type { Check, DoctorContext } from './check.js';
import { heldBack, patienceOf } from './events.js';
import { type Finding, fault, ok, skipped } from './finding.js';
import { readProblem } from './read-problem.js';
import { noSite } from './site.js';
import type { ReadAnswer } from './visitor.js';

/** With `--create` alone: begins a login that nobody ends, to see the whole way there and the events of an intent that is. */
export const create: Check = async (context) => {
  const { siteUrl, site, mayCreate, settings, visitor, signal } = context;
  if (!mayCreate) return [skipped('only with --create, which begins a login that nobody ends')];
  if (!siteUrl) return [noSite];
  const seen = await site().catch(() => undefined);
  if (!seen) return [fault(`No login can be begun: ${siteUrl.origin} cannot be reached.`, afterSite)];
  const { routes } = seen;
  if (!routes?.intent || !routes.session) return [skipped('the site has no logins')];
  const headers = { origin: settings.origin ?? siteUrl.origin, 'content-type': 'application/json' };
  const body = JSON.stringify({ mode: 'login' });
  const url = new URL(routes.intent, siteUrl);
  const answer = await visitor.read(url, { method: 'POST', headers, body, signal });
  if (answer.status !== 201) return [refused(answer)];
  const found = lookAtCookie(answer, siteUrl);
  const slow = routes.events
    ? await lookAtEvents(new URL(`${routes.events}/${idIn(answer)}/events`, siteUrl), context)
    : [];
  const all = [...found, ...slow];
  return all.length > 0
    ? all
    : [ok(`a login was begun in ${Math.round(answer.tookMs)} ms, and its events come at once`)];
};

const afterSite = 'Mend what stands under `site`, and run the doctor again.';

function refused({ status, text }: ReadAnswer): Finding {
  const { code = '' } = readProblem(text);
  const mend =
    code.startsWith('sequencer_') || code === 'intent_refused'
      ? 'See the log of the site, which has the reason; most often the service finds no key file, or another key in it; or it needs the option dialect.'
      : 'See the log of the site, and what docs/errors.md says of the code.';
  return fault(`The site begins no login: ${`${status} ${code}`.trim()}.`, mend);
}

function lookAtCookie({ cookies }: ReadAnswer, { protocol }: URL): Finding[] {
  if (protocol === 'http:') return [];
  const cookie = cookies.map((text) => parseSetCookie(text)).find(({ name }) => /^(?:__Host-)?intent$/.test(name));
  const { name, secure, httpOnly, sameSite, path, domain } = cookie ?? {};
  const isRight = name === '__Host-intent' && secure && httpOnly && sameSite === 'lax' && path === '/' && !domain;
  if (isRight) return [];
  const mend = 'Start the site with NODE_ENV=production, and let the proxy leave Set-Cookie as it is.';
  if (!cookie) return [fault('The answer has no cookie, so that no login can be completed.', mend)];
  return [
    fault('The cookie of the browser is not as it should be: __Host-intent, Secure, HttpOnly, SameSite=Lax.', mend),
  ];
}

function idIn({ text }: ReadAnswer): string {
  const { client_secret: secret } = JSON.parse(text) as { client_secret: string };
  return intentIdOf(rendezvousKeyPair(parseClientSecret(secret)));
}

/** The stream stays open, so that what is held back does not come. */
async function lookAtEvents(url: URL, context: DoctorContext): Promise<Finding[]> {
  const { visitor, signal } = context;
  try {
    const isTold = await timed(signal, patienceOf(context), async (patience) => {
      const { body } = await visitor.ask(url, { headers: { accept: 'text/event-stream' }, signal: patience });
      for await (const chunk of body as AsyncIterable<Buffer>) if (chunk.includes('event: status')) return true;
      return false;
    });
    if (isTold) return [];
  } catch {
    // Told below.
  }
  return [heldBack('No event comes')];
}
