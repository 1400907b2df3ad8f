import type { RequestHandler } from 'express';
import helmet from 'helmet';

/**
 * A page may load what this site serves as a file, and nothing else; scripts and styles in the markup do not run.
 * @param options.ownFrames lets pages of this site show each other in frames
 */
export function securityHeaders({ ownFrames = false } = {}): RequestHandler {
  const framed = ownFrames ? "'self'" : "'none'";
  return helmet({
    xFrameOptions: { action: ownFrames ? 'sameorigin' : 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        connectSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        ...(ownFrames && { frameSrc: [framed] }),
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: [framed],
      },
    },
  });
}
