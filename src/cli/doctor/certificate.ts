import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Check, DoctorContext } from './check.js';
import { explainNetwork } from './explain-network.js';
import { type Finding, fault, ok, skipped, warning } from './finding.js';
import { isDevelopment } from './is-development.js';

const dayMs = 24 * 3_600_000;
/** Who renews by itself does so earlier. */
const soonDays = 14;

/** The certificates of the domain and of the site: trusted, for that name, and for how long still. */
export const certificate: Check = async (context) => {
  const { settings, siteUrl } = context;
  const ofDomain = settings.domain && !isDevelopment(settings) ? [`https://${settings.domain}`] : [];
  const ofSite = siteUrl?.protocol === 'https:' ? [siteUrl.origin] : [];
  const origins = [...new Set([...ofDomain, ...ofSite])];
  if (origins.length === 0) return [skipped('nothing here is served over https')];
  return (await Promise.all(origins.map((origin) => lookAt(new URL(origin), context)))).flat();
};

interface Shown {
  readonly certificate: PeerCertificate;
  /** The code of what is wrong with it, where anything is. */
  readonly code: string | undefined;
}

async function lookAt(url: URL, context: DoctorContext): Promise<Finding[]> {
  let shown: Shown;
  try {
    shown = await handshake(url, context);
  } catch (error) {
    const { why, mend } = explainNetwork(error, url.host, `Serve https at ${url.host}.`);
    return [fault(`There is no certificate to see: ${why}.`, mend)];
  }
  const { certificate: shownCertificate, code } = shown;
  const { subjectaltname, valid_to: end } = shownCertificate;
  if (code !== undefined) {
    const { why, mend } = explainNetwork(Object.assign(new Error(code), { code }), url.hostname, '');
    const named = subjectaltname ? `It names ${subjectaltname.replaceAll('DNS:', '')}, and ends ${end}.` : '';
    return [fault(`${why[0]?.toUpperCase()}${why.slice(1)} (${code}). ${named}`, mend)];
  }
  const days = Math.floor((Date.parse(end) - context.world.now()) / dayMs);
  const text = `that of ${url.hostname} is good for ${days} more ${days === 1 ? 'day' : 'days'}`;
  if (days >= soonDays) return [ok(text)];
  return [warning(`${text}.`, `Renew the certificate of ${url.hostname}, and see why it is not renewed by itself.`)];
}

/** Takes any certificate, to be able to say what is wrong with it. @throws {Error} where there is no TLS */
function handshake({ hostname, port }: URL, { world, signal }: DoctorContext): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const place = world.placeOf({ host: hostname, port: Number(port || 443) });
    const ca = world.ca === undefined ? {} : { ca: world.ca };
    const socket: TLSSocket = connect({ ...place, servername: hostname, rejectUnauthorized: false, ...ca }, () => {
      const { authorized, authorizationError } = socket;
      // A code, whatever the types of Node say.
      resolve({ certificate: socket.getPeerCertificate(), code: authorized ? undefined : String(authorizationError) });
      socket.destroy();
    });
    socket.once('error', reject);
    signal.addEventListener('abort', () => socket.destroy(signal.reason), { once: true });
  });
}
