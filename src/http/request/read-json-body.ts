import type { Request } from 'express';
import { IntentError } from '../../errors.js';
import { bodyTooLarge, readBytes } from './read-bytes.js';

/** Bytes of the largest body that is read. */
const bodyLimitBytes = 4 * 1024;

/**
 * Reads the JSON body of a request, whether or not the app has parsed it before.
 * @throws {IntentError} `unsupported_media_type`, `body_too_large`, `invalid_json`
 */
export async function readJsonBody(req: Request): Promise<unknown> {
  requireJson(req);
  if (Number(req.headers['content-length'] ?? 0) > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes);
  if (!req.readableDidRead) return parse(await readBytes(req, bodyLimitBytes, 'invalid_json'));
  const body: unknown = req.body;
  if (typeof body === 'string' || body instanceof Uint8Array) return parse(limited(Buffer.from(body)));
  // The parser before us had a limit of its own; ours holds all the same.
  limited(Buffer.from(stringify(body)));
  return body;
}

/** What is nested so deeply that it cannot be written has more brackets than the limit has bytes. */
function stringify(body: unknown): string {
  try {
    return JSON.stringify(body) ?? '';
  } catch {
    throw bodyTooLarge(bodyLimitBytes);
  }
}

/** @throws {IntentError} `unsupported_media_type` */
export function requireJson({ headers }: Request): void {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (mediaType.trim().toLowerCase() === 'application/json' && encoding === 'identity') return;
  throw new IntentError('unsupported_media_type', 'Send the body as application/json, without a content encoding.');
}

function limited(bytes: Buffer): Buffer {
  if (bytes.length > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes);
  return bytes;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body.
    throw new IntentError('invalid_json', 'The body is not JSON in UTF-8.');
  }
}
