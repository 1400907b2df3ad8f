import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Header names and values, ready to be written. */
export type Headers = Readonly<Record<string, string>>;

/**
 * The headers helmet sets on an answer that is data and never a page, computed once instead of at every request.
 * HSTS speaks for the whole site and its subdomains, so it is left to the site.
 */
export function securityHeaders(): Headers {
  const headers: Record<string, string> = {};
  const recorder = {
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
    removeHeader: (name: string) => {
      delete headers[name];
    },
  };
  const middleware = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  });
  // helmet asks nothing of the two but to set and remove headers.
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error;
  });
  return Object.freeze(headers);
}
