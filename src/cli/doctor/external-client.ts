import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { messageOf } from '../../errors.js';
import { ReceivedBytes } from '../../net/received-bytes.js';
import type { Host } from '../command.js';

export interface ClientRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface ExternalResponse {
  readonly status: number;
  /** By lower-case name. Repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Dispatcher.ResponseData['body'];
  /** From the request to the head of the answer, including the connection, in milliseconds. */
  readonly tookMs: number;
}

export interface TextResponse extends Omit<ExternalResponse, 'body'> {
  readonly text: string;
}

const maxBytes = 256 * 1024;
const tooLarge = `the response is larger than ${maxBytes / 1024} KiB`;

/** Sends requests as an external client: each over a new connection, and without following redirects. */
export class ExternalClient {
  readonly #agent: Agent;

  constructor({ ca, addressOf }: Host) {
    const connect = buildConnector({ ...(ca !== undefined && { ca }) });
    this.#agent = new Agent({
      connect: (options, done) => {
        const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
        const address = addressOf({ host: options.hostname, port });
        const servername = options.servername ?? options.hostname;
        connect({ ...options, hostname: address.host, port: String(address.port), servername }, done);
      },
      pipelining: 0,
    });
  }

  async send(url: URL, { method = 'GET', headers = {}, body, signal }: ClientRequest): Promise<ExternalResponse> {
    const startedAt = performance.now();
    const answer = await request(url, {
      dispatcher: this.#agent,
      method,
      headers: { 'user-agent': 'express-intents doctor', ...headers },
      signal,
      ...(body !== undefined && { body }),
    });
    const tookMs = performance.now() - startedAt;
    const joined = Object.entries(answer.headers).map(([name, value = '']) => [name, [value].flat().join(', ')]);
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(joined),
      // A body that is not read to its end must not throw.
      body: answer.body.on('error', () => undefined),
      tookMs,
    };
  }

  async read(url: URL, options: ClientRequest): Promise<TextResponse> {
    const { body, ...head } = await this.send(url, options);
    return { ...head, text: await readText(body) };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

export async function readText(body: ExternalResponse['body']): Promise<string> {
  const received = new ReceivedBytes();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (received.length + chunk.length > maxBytes) throw Object.assign(new Error(tooLarge), { code: 'TOO_LARGE' });
    received.append(chunk);
  }
  return received.toBuffer().toString();
}

/** The code and the detail of an error answer (RFC 9457). Empty for any other answer. */
export function readProblem(text: string): { readonly code: string | undefined; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as Record<string, unknown>;
    return { code: typeof code === 'string' ? code : undefined, detail: typeof detail === 'string' ? detail : '' };
  } catch {
    return { code: undefined, detail: '' };
  }
}

export interface NetworkProblem {
  readonly why: string;
  readonly fix: string;
}

const certificateFix = (host: string): string =>
  `Install a certificate for ${host} from a public certificate authority, with its full chain. certbot and Caddy do this.`;

/** A public authority certifies neither localhost nor a private name. */
const trustFix =
  'For localhost or a private network, let Node trust your own certificate authority: set NODE_EXTRA_CA_CERTS=<its certificate, a ' +
  'PEM file> and run this command again.';

/** By the code of the error. `unreachableFix` is the fix if the network is at fault. */
const networkProblems: readonly (readonly [
  codes: RegExp,
  explain: (host: string, unreachableFix: string) => NetworkProblem,
])[] = [
  [
    /^ENOTFOUND$/,
    (host) => ({
      why: `DNS has no address for ${host}`,
      fix: 'Correct the name. If it is yours, add an A or AAAA record for it.',
    }),
  ],
  [
    /^EAI_/,
    (host) => ({
      why: `DNS does not answer for ${host}`,
      fix: 'Fix the DNS resolver of this machine, or skip the network with --offline.',
    }),
  ],
  [/^ECONNREFUSED$/, (host, fix) => ({ why: `nothing listens at ${host}`, fix })],
  [/^ENOENT$/, (host, fix) => ({ why: `there is no socket at ${host}`, fix })],
  [
    /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/,
    (host, fix) => ({ why: `there is no route to ${host}, or a firewall drops the connection`, fix }),
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    (host) => ({ why: `the certificate of ${host} has expired`, fix: `Renew the certificate of ${host}.` }),
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    (host) => ({ why: `the certificate does not name ${host}`, fix: certificateFix(host) }),
  ],
  [
    /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_)/,
    (host) => ({ why: `the certificate of ${host} is not trusted`, fix: `${certificateFix(host)} ${trustFix}` }),
  ],
  [
    /^(?:EPROTO|ERR_SSL_|ERR_TLS_)/,
    (host) => ({
      why: `the TLS handshake with ${host} failed`,
      fix: `Serve https at ${host} with a certificate for it, or correct the port.`,
    }),
  ],
  [
    /^(?:ECONNRESET|UND_ERR_SOCKET|EPIPE|HPE_)/,
    (host, fix) => ({ why: `${host} closed the connection, or does not speak HTTP`, fix }),
  ],
  [
    /^TOO_LARGE$/,
    () => ({
      why: tooLarge,
      fix: 'Make sure that the router answers this path.',
    }),
  ],
];

/** Explains an error of a socket, of TLS or of the HTTP client. @param unreachableFix the fix if the network is at fault */
export function explainNetwork(error: unknown, host: string, unreachableFix: string): NetworkProblem {
  const { code, name, message } = rootCause(error);
  if (name === 'TimeoutError' || name === 'AbortError')
    return { why: `${host} does not answer in time`, fix: unreachableFix };
  const known = networkProblems.find(([codes]) => codes.test(code ?? ''));
  return (
    known?.[1](host, unreachableFix) ?? {
      why: `${host} cannot be reached: ${message.replace(/\.$/, '')}`,
      fix: unreachableFix,
    }
  );
}

interface ErrorFields {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** The first error in the chain of causes that has a code, else the innermost. If several addresses failed: the error of the first. */
function rootCause(error: unknown): { readonly code?: string; readonly name?: unknown; readonly message: string } {
  let each = error as ErrorFields | null | undefined;
  let message = messageOf(error);
  for (let depth = 0; each && depth < 8; depth += 1) {
    const { code, name, cause, errors } = each;
    message = messageOf(each);
    if (name === 'TimeoutError' || name === 'AbortError') return { name, message };
    if (typeof code === 'string' && /^[A-Z]/.test(code)) return { code, name, message };
    each = Array.isArray(errors) ? errors[0] : cause;
  }
  return { message };
}
