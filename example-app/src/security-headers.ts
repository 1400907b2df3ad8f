import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** A page may load what this site serves as a file, and nothing else; scripts and styles in the markup do not run. */
export function securityHeaders(): RequestHandler {
  return helmet({
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
  });
}
