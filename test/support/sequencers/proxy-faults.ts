import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { encodeErrorResponse, encodeOkResponse } from '../../../src/wire/envelope.js';
import { canary } from './fault-sequencer.js';
import type { Expected } from './fault-way.js';

/** What can be spoilt: the right answer, and the connection it would go out on. */
export interface Spoilable {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The envelope that would be the answer. */
  readonly answer: Uint8Array;
}

export interface ProxyFault extends Expected {
  spoil(call: Spoilable): void;
}

const octets = { 'content-type': 'application/octet-stream' };
const send =
  (envelope: Uint8Array, headers: Record<string, string> = octets) =>
  ({ res }: Spoilable): void =>
    void res.writeHead(200, { ...headers, 'content-length': envelope.length }).end(envelope);
const status =
  (code: number, headers: Record<string, string> = {}) =>
  ({ req, res }: Spoilable): void =>
    void res.writeHead(code, { location: req.url ?? '/', ...headers }).end(canary);
const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, Math.floor(bytes.length / 2));

/** Longer than any test waits. */
const lateMs = 1_800;

function drip({ res }: Spoilable): void {
  res.writeHead(200, { ...octets, 'content-length': 10_000 });
  const timer = setInterval(() => res.write(Buffer.of(0x0a)), 20);
  res.on('close', () => clearInterval(timer));
}

function late({ res, answer }: Spoilable): void {
  const timer = setTimeout(() => res.writeHead(200, octets).end(answer), lateMs);
  res.on('close', () => clearTimeout(timer));
}

const megabyte = Buffer.alloc(1024 * 1024, 0x0a);

/** As fast as it is read, and no faster. */
function flood({ res }: Spoilable): void {
  res.writeHead(200, { ...octets, 'content-length': 64 * megabyte.length });
  let left = 64;
  const more = (): void => {
    while (left > 0 && !res.destroyed) {
      left -= 1;
      if (!res.write(megabyte)) return;
    }
    if (left === 0) res.end();
  };
  res.on('drain', more);
  more();
}

/** Every way in which the proxy, or a thing between it and us, can spoil an answer. */
export const proxyFaults = {
  // Before anything is sent nobody listens; after that it closes the connection without a word.
  refuse: { spoil: ({ req }) => req.socket.end(), code: 'sequencer_unreachable', passes: true },
  reset: { spoil: ({ req }) => req.socket.resetAndDestroy(), code: 'sequencer_unreachable', passes: true },
  stall: { spoil: () => {}, code: 'sequencer_timeout', passes: true },
  drip: { spoil: drip, code: 'sequencer_timeout', passes: true },
  'an answer that comes too late': { spoil: late, code: 'sequencer_timeout', passes: true },
  'a cut in the headers': {
    spoil: ({ req: { socket } }) => socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.destroy()),
    code: 'sequencer_unreachable',
    passes: true,
  },
  'a cut in the body': {
    spoil: ({ res, answer }) => {
      res.writeHead(200, { ...octets, 'content-length': answer.length });
      res.write(half(answer), () => res.destroy());
    },
    code: 'sequencer_unreachable',
    passes: true,
  },
  'HTTP 503, come back at once': {
    spoil: status(503, { 'retry-after': '0' }),
    code: 'sequencer_bad_status',
    passes: true,
  },
  'HTTP 503, come back in a minute': {
    spoil: status(503, { 'retry-after': '60' }),
    code: 'sequencer_bad_status',
    passes: false,
  },
  'HTTP 429': { spoil: status(429), code: 'sequencer_bad_status', passes: true },
  'HTTP 502': { spoil: status(502), code: 'sequencer_bad_status', passes: true },
  'HTTP 500': { spoil: status(500), code: 'sequencer_bad_status', passes: false },
  'a redirect to itself': { spoil: status(307), code: 'sequencer_bad_status', passes: false },
  'an ERROR envelope': { spoil: send(encodeErrorResponse(canary)), code: 'sequencer_error', passes: false },
  'an unknown result': { spoil: send(Uint8Array.of(0x08, 0x07)), code: 'sequencer_bad_response', passes: false },
  garbage: { spoil: send(Buffer.alloc(40, 0xff)), code: 'sequencer_bad_response', passes: false },
  'garbage in an OK envelope': {
    spoil: send(encodeOkResponse(Buffer.alloc(9, 0xff))),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'a truncated envelope': {
    spoil: (call) => send(call.answer.subarray(0, -1))(call),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'something that is not HTTP': {
    spoil: ({ req }) => req.socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'a page of HTML': {
    spoil: send(Buffer.from(`<!doctype html><title>${canary}</title>`), { 'content-type': 'text/html' }),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'the right answer as a page': {
    spoil: (call) => send(call.answer, { 'content-type': 'text/html; charset=utf-8' })(call),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'a compressed answer': {
    spoil: (call) => send(gzipSync(call.answer), { ...octets, 'content-encoding': 'gzip' })(call),
    code: 'sequencer_bad_response',
    passes: false,
  },
  'an empty answer of no type': { spoil: send(new Uint8Array(), {}), code: 'sequencer_bad_response', passes: false },
  '64 MB': { spoil: flood, code: 'sequencer_bad_response', passes: false },
} satisfies Record<string, ProxyFault>;

export type ProxyFaultName = keyof typeof proxyFaults;
