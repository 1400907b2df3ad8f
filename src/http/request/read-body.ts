import type { Request } from 'express';
import { IntentError, type IntentErrorCode } from '../../errors.js';

const jsonLimitBytes = 4 * 1024;
const jwtLimitBytes = 8 * 1024;

/**
 * Reads a JSON body, whether or not the app has parsed it before.
 * @throws {IntentError} `unsupported_media_type`, `body_too_large`, `invalid_json`
 */
export async function readJson(req: Request): Promise<unknown> {
  requireJson(req);
  const bytes = await unparsedBody(req, jsonLimitBytes, 'invalid_json');
  if (bytes) return parseJson(bytes);
  // The parser of the app had another limit. Ours applies as well.
  requireSize(Buffer.byteLength(toJson(req.body)), jsonLimitBytes);
  return req.body;
}

/**
 * Reads a JWT from the body; empty where the app has parsed the body into something else.
 * @throws {IntentError} `unsupported_media_type`, `body_too_large`, `invalid_webhook`
 */
export async function readJwt(req: Request): Promise<string> {
  requireMediaType(req, 'application/jwt');
  const bytes = await unparsedBody(req, jwtLimitBytes, 'invalid_webhook');
  return bytes?.toString('latin1') ?? '';
}

/** @throws {IntentError} `unsupported_media_type` */
export function requireJson(req: Request): void {
  requireMediaType(req, 'application/json');
}

function requireMediaType({ headers }: Request, expected: string): void {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (mediaType.trim().toLowerCase() === expected && encoding === 'identity') return;
  throw new IntentError('unsupported_media_type', `Send the body as ${expected}, without a content encoding.`);
}

/** The bytes of a body, from the connection or from a parser of the app; undefined where that made an object of them. */
async function unparsedBody(req: Request, limitBytes: number, code: IntentErrorCode): Promise<Buffer | undefined> {
  requireSize(Number(req.headers['content-length'] ?? 0), limitBytes);
  if (!req.readableDidRead) return readBytes(req, limitBytes, code);
  const body: unknown = req.body;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined;
  const bytes = Buffer.from(body);
  requireSize(bytes.length, limitBytes);
  return bytes;
}

/**
 * Reads a body that was not read before.
 * @throws {IntentError} `body_too_large`, or `code` when the body ends too early
 */
export function readBytes(req: Request, limitBytes: number, code: IntentErrorCode): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A parser in front has found nothing to read. `end` was emitted then, and is not emitted again.
    if (req.readableEnded) return resolve(Buffer.alloc(0));
    if (req.destroyed) return reject(new IntentError(code, 'The body ended too early.'));
    const chunks: Buffer[] = [];
    let length = 0;
    // `close` follows `end` as well, and creating an error that is not used costs as much as the rest of this function.
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

function requireSize(bytes: number, limitBytes: number): void {
  if (bytes > limitBytes) throw bodyTooLarge(limitBytes);
}

function bodyTooLarge(limitBytes: number): IntentError {
  return new IntentError('body_too_large', `The body is over ${limitBytes} bytes.`);
}

/** An object that is nested too deeply to be serialized has more brackets than the limit has bytes. */
function toJson(body: unknown): string {
  try {
    return JSON.stringify(body) ?? '';
  } catch {
    throw bodyTooLarge(jsonLimitBytes);
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The message of the parser quotes the body.
    throw new IntentError('invalid_json', 'The body is not JSON in UTF-8.');
  }
}
