import { IntentError } from '../errors.js';
import { isLoopback, parseHttpUrl } from '../net/url.js';
import type { GrpcNames } from './grpc/grpc-names.js';
import { createGrpcTransport } from './grpc/grpc-transport.js';
import { createHttpTransport } from './http/http-transport.js';
import type { Transport } from './transport.js';

/** The address of the service. */
export interface ServiceAddress extends GrpcNames {
  /** The base URL of the service (`base_url`), `https://...`; calls go to `{base_url}/v1/api`. Not needed with `grpcUrl` or `transport`. */
  readonly url?: string | undefined;
  /** The gRPC URL of the service (`grpc_url`), `https://...`. Used instead of `url` (interface section 4.2). Needs `@grpc/grpc-js`. */
  readonly grpcUrl?: string | undefined;
  /**
   * The `version` of each envelope sent to `url`, such as `1.0` (interface section 9.2): up to 32 visible ASCII
   * characters. Default: empty.
   */
  readonly envelopeVersion?: string | undefined;
  /**
   * Allows http to another machine in `url` and `grpcUrl`. Anyone on the network path can then read and forge answers.
   * Default false.
   */
  readonly dangerouslyAllowHttp?: boolean | undefined;
}

export const serviceAddressNames = ['url', 'grpcUrl', 'grpcNames', 'envelopeVersion', 'dangerouslyAllowHttp'] as const;

/** @param timeoutMs of a connection attempt, and over gRPC also of a call @throws {IntentError} `invalid_configuration` */
export function createTransport(address: ServiceAddress, timeoutMs: number): Transport {
  const { url = '', grpcUrl, grpcNames, envelopeVersion, dangerouslyAllowHttp = false } = address;
  if (grpcUrl !== undefined) {
    requireHttps('grpcUrl', 'grpc_url', grpcUrl, dangerouslyAllowHttp);
    return createGrpcTransport({ url: grpcUrl, grpcNames, timeoutMs });
  }
  requireHttps('url', 'base_url', url, dangerouslyAllowHttp);
  if (envelopeVersion !== undefined && !/^[!-~]{0,32}$/.test(envelopeVersion)) {
    const message = 'envelopeVersion must be up to 32 visible ASCII characters, such as 1.0.';
    throw new IntentError('invalid_configuration', message);
  }
  return createHttpTransport({ url, timeoutMs, envelopeVersion });
}

function requireHttps(option: string, meaning: string, text: string, dangerouslyAllowHttp: boolean): void {
  const url = parseHttpUrl(text);
  if (!url) {
    const message = `${option} must be the ${meaning} of the sequencer, such as https://host.`;
    throw new IntentError('invalid_configuration', message);
  }
  const { protocol, hostname, pathname, username, password, search, hash } = url;
  if (username || password || search || hash || (option === 'grpcUrl' && pathname !== '/')) {
    const path = option === 'grpcUrl' ? ' a path,' : '';
    const message = `${option} must not contain a user name, a password,${path} a query or a fragment, because they would not be sent.`;
    throw new IntentError('invalid_configuration', message);
  }
  if (protocol === 'http:' && !dangerouslyAllowHttp && !isLoopback(hostname)) {
    const message = `${option} must use https. http is allowed only for loopback addresses. Use https, or set dangerouslyAllowHttp: true.`;
    throw new IntentError('invalid_configuration', message);
  }
}

/** Starts a transport at the first call or stream. If that fails, the next one retries it. @param start creates the transport */
export function lazyTransport(start: () => Promise<Transport>): Transport {
  let started: Promise<Transport> | undefined;
  const transport = (): Promise<Transport> => {
    started ??= start().catch((error) => {
      started = undefined;
      throw error;
    });
    return started;
  };
  return {
    call: async (operation, body, options) => (await transport()).call(operation, body, options),
    // A transport without streams yields an empty stream, and the status is polled instead.
    openStream: async function* (operation, body, options) {
      yield* (await transport()).openStream?.(operation, body, options) ?? [];
    },
    close: async () => (await started?.catch(() => undefined))?.close(),
  };
}
