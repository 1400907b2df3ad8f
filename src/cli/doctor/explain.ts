import { readError } from '../../emulator/outbound/read-error.js';
import { IntentError, SequencerError } from '../../errors.js';
import { diagnoseDatabase } from '../../ledger/database/database-fault.js';

/** Why a server could not be asked, and what mends it. */
export interface NetworkFault {
  readonly why: string;
  readonly mend: string;
}

type Explanation = (host: string, unreachable: string) => NetworkFault;

const certificateMend = (host: string): string =>
  `Give ${host} a certificate of a public authority that names it, with its whole chain; certbot and Caddy do so by themselves.`;

const reasons: readonly (readonly [codes: RegExp, explain: Explanation])[] = [
  [
    /^ENOTFOUND$/,
    (host) => ({
      why: `the DNS knows no address of ${host}`,
      mend: 'Correct the name; where it is yours, add an A or AAAA record for it.',
    }),
  ],
  [
    /^EAI_/,
    (host) => ({
      why: `the DNS does not answer for ${host}`,
      mend: 'Mend the name service of this machine, or leave the network out with --offline.',
    }),
  ],
  [/^ECONNREFUSED$/, (host, mend) => ({ why: `nobody listens at ${host}`, mend })],
  [/^ENOENT$/, (host, mend) => ({ why: `there is no socket at ${host}`, mend })],
  [
    /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/,
    (host, mend) => ({ why: `no connection to ${host} comes about, as behind a firewall`, mend }),
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    (host) => ({ why: `the certificate of ${host} has expired`, mend: `Renew the certificate of ${host}.` }),
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    (host) => ({ why: `the certificate is for other names than ${host}`, mend: certificateMend(host) }),
  ],
  [
    /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_)/,
    (host) => ({ why: `the certificate of ${host} is not trusted`, mend: certificateMend(host) }),
  ],
  [
    /^(?:EPROTO|ERR_SSL_|ERR_TLS_)/,
    (host) => ({ why: `${host} speaks no TLS there`, mend: `Serve https at ${host}, or correct the port.` }),
  ],
  [
    /^(?:ECONNRESET|UND_ERR_SOCKET|EPIPE|HPE_)/,
    (host, mend) => ({ why: `${host} cut the connection, or does not speak HTTP`, mend }),
  ],
];

/**
 * Puts what a socket, TLS or the HTTP client says into words.
 * @param host as it is told, with the port where that matters
 * @param unreachable what mends it where the way there is the trouble
 */
export function explainNetwork(error: unknown, host: string, unreachable: string): NetworkFault {
  const { code, name, message } = deepest(error);
  if (name === 'TimeoutError' || name === 'AbortError')
    return { why: `${host} does not answer in time`, mend: unreachable };
  const known = reasons.find(([codes]) => codes.test(code ?? ''));
  return known?.[1](host, unreachable) ?? { why: `${host} cannot be asked: ${message}`, mend: unreachable };
}

interface ReadableError {
  readonly code?: string;
  readonly name?: unknown;
  readonly message: string;
}

/** The first in the chain of causes that has a code; several addresses that failed are one error with several. */
function deepest(error: unknown): ReadableError {
  for (let each: unknown = error, depth = 0; each !== undefined && depth < 8; depth += 1) {
    const { code, name, message, cause, errors } = readError(each) as ReturnType<typeof readError> & {
      errors?: unknown;
    };
    if (name === 'TimeoutError' || name === 'AbortError') return { name, message: String(message) };
    if (typeof code === 'string' && /^[A-Z]/.test(code)) return { code, name, message: String(message) };
    each = Array.isArray(errors) ? errors[0] : cause;
  }
  return { message: String(readError(error).message ?? error) };
}

/** Why a sequencer gave no answer of use, and what mends it. @param setting the variable that says where it is */
export function explainSequencer(error: unknown, host: string, setting: string): NetworkFault {
  const unreachable = `See that the payment service runs, that ${setting} is right, and that a firewall lets this machine out.`;
  if (!(error instanceof IntentError)) return explainNetwork(error, host, unreachable);
  const notOne = `Set ${setting} to the address that your payment service gave you, without /v1/api.`;
  switch (error.code) {
    case 'sequencer_bad_status':
      return explainStatus(error, host, setting, notOne);
    case 'sequencer_bad_response':
    case 'malformed_message':
      return { why: `what answers at ${host} is no payment service: ${error.message}`, mend: notOne };
    case 'sequencer_error':
      return {
        why: `${host} refuses to be asked for a status`,
        mend: 'Ask your payment service whether this site may use it.',
      };
    case 'sequencer_timeout':
      return { why: `${host} does not answer in time`, mend: unreachable };
    default:
      return explainNetwork(error, host, unreachable);
  }
}

function explainStatus(error: IntentError, host: string, setting: string, notOne: string): NetworkFault {
  const status = error instanceof SequencerError ? (error.httpStatus ?? 0) : 0;
  const why = `${host} answers with status ${status}`;
  if (status >= 500) return { why, mend: 'Ask your payment service what is the matter, or wait.' };
  if (status === 401 || status === 403) return { why, mend: 'Ask your payment service to let this machine in.' };
  if (status >= 300 && status < 400) return { why: `${why}, a redirect`, mend: `Set ${setting} to where it leads.` };
  return { why, mend: notOne };
}

const startIt =
  'Start the database, correct the host and port in INTENT_DATABASE_URL, or open the firewall for this machine.';

/** Why the database cannot be used, and what mends it. Its own words name a user or a database, and never a password. */
export function explainDatabase(error: unknown): NetworkFault {
  const { why, mend } = diagnoseDatabase(error) ?? {};
  const network = explainNetwork(error, 'its host', startIt);
  return { why: why ?? network.why, mend: mend ?? network.mend };
}
