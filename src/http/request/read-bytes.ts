import type { Request } from 'express';
import { IntentError, type IntentErrorCode } from '../../errors.js';

/**
 * Reads the body of a request that nobody has read before.
 * @throws {IntentError} `body_too_large`, or `code` when the body ends too early
 */
export function readBytes(req: Request, limitBytes: number, code: IntentErrorCode): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Where a parser in front found nothing to read, its end was told, and will not be told again.
    if (req.readableEnded) return resolve(Buffer.alloc(0));
    if (req.destroyed) return reject(new IntentError(code, 'The body ended too early.'));
    const chunks: Buffer[] = [];
    let length = 0;
    // A request is closed also after its end, and an error that nobody sees costs as much as the rest of this.
    const fail = (): void => {
      if (!req.readableEnded) reject(new IntentError(code, 'The body ended too early.'));
    };
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limitBytes) chunks.push(chunk);
      else reject(bodyTooLarge(limitBytes));
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', fail);
    req.on('close', fail);
  });
}

export function bodyTooLarge(limitBytes: number): IntentError {
  return new IntentError('body_too_large', `The body is over ${limitBytes} bytes.`);
}
