import type { Response } from 'express';

/** Answers a call of the proxy; whoever has gone gets nothing. */
export function sendEnvelope(res: Response, envelope: Uint8Array): void {
  if (!res.destroyed) res.type('application/octet-stream').send(Buffer.from(envelope));
}
