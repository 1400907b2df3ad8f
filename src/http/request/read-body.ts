import type { Request } from 'express';
import { IntentError, type IntentErrorCode } from '../../errors.js';
import { ReceivedBytes } from '../../net/received-bytes.js';

const jsonType = 'application/json';
const jsonLimitBytes = 4 * 1024;
const jwtLimitBytes = 8 * 1024;

const incompleteBody = 'The connection closed before the body was complete. Retry.';

/**
 * Reads a JSON body, which the app may have parsed.
 * @throws {IntentError} for its type, size or form; `invalid_configuration` if the app has read it without setting `req.body`
 */
export async function readJson(req: Request): Promise<unknown> {
  const bytes = await unparsedBody(req, jsonType, jsonLimitBytes, 'invalid_json');
  if (bytes) return parseJson(bytes);
  if (req.body === undefined) throw bodyAlreadyRead();
  // The app's parser may have a higher limit. Ours applies too.
  requireSize(Buffer.byteLength(toJson(req.body)), jsonLimitBytes);
  return req.body;
}

/** Reads a JWT; empty if the app parsed the body into something else. @throws {IntentError} for its type, size or form */
export async function readJwt(req: Request): Promise<string> {
  const bytes = await unparsedBody(req, 'application/jwt', jwtLimitBytes, 'invalid_webhook');
  return bytes?.toString('latin1') ?? '';
}

export function requireJson({ headers }: Request): void {
  requireMediaType(headers, jsonType);
}

function requireMediaType(headers: Request['headers'], expected: string): void {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';', 1);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (mediaType.trim().toLowerCase() === expected && encoding === 'identity') return;
  throw new IntentError('unsupported_media_type', `Send the body as ${expected}, without a content encoding.`);
}

/** The bytes of a body, from the connection or from the app's parser; undefined if that parser created an object. */
function unparsedBody(
  req: Request,
  mediaType: string,
  limitBytes: number,
  code: IntentErrorCode,
): Promise<Buffer> | Buffer | undefined {
  const { headers } = req;
  requireMediaType(headers, mediaType);
  requireSize(Number(headers['content-length'] ?? 0), limitBytes);
  if (!req.readableDidRead) return readBytes(req, limitBytes, code);
  const body: unknown = req.body;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return undefined;
  const bytes = Buffer.from(body);
  requireSize(bytes.length, limitBytes);
  return bytes;
}

/** Reads an unread body. @throws {IntentError} `body_too_large`, or `code` if the body is incomplete */
export function readBytes(req: Request, limitBytes: number, code: IntentErrorCode): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A parser before the router found an empty body. `end` was already emitted.
    if (req.readableEnded) return resolve(Buffer.alloc(0));
    if (req.destroyed) return reject(new IntentError(code, incompleteBody));
    const body = new ReceivedBytes();
    // `close` also follows `end`. Creating an unused error would double the cost of this function.
    const fail = (): void => {
      if (!req.readableEnded) reject(new IntentError(code, incompleteBody));
    };
    req.on('data', (chunk: Buffer | string) => {
      // After `req.setEncoding()` in a middleware of the app, chunks are strings.
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk, req.readableEncoding ?? 'utf8') : chunk;
      if (body.length + bytes.length <= limitBytes) body.append(bytes);
      else reject(bodyTooLarge(limitBytes));
    });
    req.on('end', () => resolve(body.toBuffer()));
    req.on('error', fail);
    req.on('close', fail);
  });
}

function bodyAlreadyRead(): IntentError {
  const message =
    'Another middleware has read the body of the request without setting req.body. Mount the router before this middleware.';
  return new IntentError('invalid_configuration', message);
}

function requireSize(bytes: number, limitBytes: number): void {
  if (bytes > limitBytes) throw bodyTooLarge(limitBytes);
}

function bodyTooLarge(limitBytes: number): IntentError {
  return new IntentError('body_too_large', `The body is larger than ${limitBytes} bytes. Send a smaller one.`);
}

/** An object too deep to serialize has more brackets than the limit has bytes. */
function toJson(body: unknown): string {
  try {
    return JSON.stringify(body) ?? '';
  } catch {
    throw bodyTooLarge(jsonLimitBytes);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // The parser's message quotes the body, so it is not used.
    throw new IntentError('invalid_json', 'The body must be JSON in UTF-8.');
  }
}
