import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IntentErrorCode } from '../../../src/errors.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { encodeErrorResponse, encodeOkResponse, type Operation } from '../../../src/wire/envelope.js';

/** One call as it came in; `n` counts the calls of this server from 1. */
export interface FaultCall {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly n: number;
}

/** Answers one call in any way that a socket allows. */
export type Answer = (call: FaultCall, res: ServerResponse, req: IncomingMessage) => void;

export interface FaultSequencer {
  /** base_url, without a path. */
  readonly url: string;
  /** The envelopes that came in, opened. */
  readonly calls: { service: string; method: string; body: Uint8Array }[];
  /** The HTTP requests that carried them. */
  readonly requests: { method: string; path: string; headers: IncomingHttpHeaders; envelope: Uint8Array }[];
  /** How many connections were made so far, and how many of them are open. */
  readonly connections: number;
  readonly openConnections: number;
  /** Answers otherwise from now on. */
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

/** A sequencer that answers what the test wants, on a free port of the loopback address. */
export async function startFaultSequencer(answer: Answer): Promise<FaultSequencer> {
  const calls: FaultSequencer['calls'] = [];
  const requests: FaultSequencer['requests'] = [];
  let current = answer;
  let connections = 0;
  let openConnections = 0;
  const server = createServer(async (req, res) => {
    const envelope = await readBody(req);
    if (!envelope) return;
    const { service, method, body } = decode(v1.Request, envelope);
    calls.push({ service, method, body });
    requests.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, envelope });
    current({ operation: { service, method }, body, n: calls.length }, res, req);
  });
  server.on('connection', (socket) => {
    connections += 1;
    openConnections += 1;
    socket.on('close', () => {
      openConnections -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return openConnections;
    },
    answerWith: (next) => {
      current = next;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The whole body, or nothing where the client went away in the middle of it. */
async function readBody(req: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req) chunks.push(chunk as Buffer);
    return new Uint8Array(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}

/** Answers an OK envelope around a serialized inner message; without one, around what a plain success is. */
export function ok(body?: Uint8Array): Answer {
  return (call, res, req) => bytes(encodeOkResponse(body ?? plainSuccess(call.operation.method)))(call, res, req);
}

/** The inner answer of an operation that succeeded, with nothing to tell but that: an intent that is created exists. */
export function plainSuccess(method: string): Uint8Array {
  if (method === 'createIntent') return encode(v1.GetStatusResponse, { exists: true });
  if (method === 'sendMessage') return encode(v1.SendMessageResponse, { messageId: { value: new Uint8Array(16) } });
  return new Uint8Array();
}

/** Answers these bytes with HTTP status 200. */
export function bytes(answer: Uint8Array): Answer {
  return (_call, res) => {
    res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': answer.length }).end(answer);
  };
}

/** Answers with an HTTP status other than 200, and a text that nobody but a log may ever see. */
function httpStatus(status: number): Answer {
  return (_call, res, req) => {
    res.writeHead(status, { 'content-type': 'text/plain', location: req.url ?? '/' }).end(canary);
  };
}

/** Answers an ERROR envelope. */
function errorEnvelope(message: string): Answer {
  return bytes(encodeErrorResponse(message));
}

/** What the faulty service says of itself; it must never reach a browser. */
export const canary = 'canary-7f3a: row 17 of table intents, user root';

const longEnvelope = encodeOkResponse(new Uint8Array(200));
const megabyte = Buffer.alloc(1024 * 1024, 0x22);

const drip: Answer = (_call, res) => {
  res.writeHead(200, { 'content-length': 10_000 });
  const timer = setInterval(() => res.write(Buffer.of(0x0a)), 20);
  res.on('close', () => clearInterval(timer));
};

const cutInMidBody: Answer = (_call, res) => {
  res.writeHead(200, { 'content-length': longEnvelope.length });
  res.write(longEnvelope.subarray(0, 50), () => res.destroy());
};

const cutInMidChunk: Answer = (_call, res) => {
  res.writeHead(200);
  res.write(longEnvelope.subarray(0, 50), () => res.destroy());
};

const oversizedChunks: Answer = (_call, res) => {
  res.writeHead(200);
  // Without a content-length, and never ended: it has to be cut, not waited for.
  res.write(megabyte);
};

/** Every way in which a sequencer can fail, and the code that tells it apart. */
const faults = {
  'an ERROR envelope': { answer: errorEnvelope(canary), code: 'sequencer_error' },
  'HTTP status 500': { answer: httpStatus(500), code: 'sequencer_bad_status' },
  'HTTP status 404': { answer: httpStatus(404), code: 'sequencer_bad_status' },
  'HTTP status 302, to itself': { answer: httpStatus(302), code: 'sequencer_bad_status' },
  'HTTP status 307, to itself': { answer: httpStatus(307), code: 'sequencer_bad_status' },
  'garbage bytes': { answer: bytes(Buffer.from('ffffffffffffffffffffff', 'hex')), code: 'sequencer_bad_response' },
  'a page instead of an envelope': {
    answer: bytes(Buffer.from(`<!doctype html><title>${canary}</title>`)),
    code: 'sequencer_bad_response',
  },
  'no bytes at all, of no type': { answer: (_call, res) => void res.end(), code: 'sequencer_bad_response' },
  'a text of two letters': { answer: bytes(Buffer.from('Hi')), code: 'sequencer_bad_response' },
  'a result of fields that nobody knows': { answer: bytes(Uint8Array.of(0x30, 0x30)), code: 'sequencer_bad_response' },
  'an OK with an error text': {
    answer: bytes(Buffer.concat([Buffer.of(0x08, 0x00, 0x1a, canary.length), Buffer.from(canary)])),
    code: 'sequencer_bad_response',
  },
  'a result without a name': { answer: bytes(Uint8Array.of(0x08, 0x07)), code: 'sequencer_bad_response' },
  'half an envelope': { answer: bytes(longEnvelope.subarray(0, 50)), code: 'sequencer_bad_response' },
  'garbage in an OK envelope': { answer: ok(Buffer.from('ffffffff', 'hex')), code: 'sequencer_bad_response' },
  'a megabyte': { answer: bytes(megabyte), code: 'sequencer_bad_response' },
  'a megabyte in chunks': { answer: oversizedChunks, code: 'sequencer_bad_response' },
  'no answer': { answer: () => {}, code: 'sequencer_timeout' },
  'a byte every 20 ms': { answer: drip, code: 'sequencer_timeout' },
  'a connection cut before the headers': {
    answer: (_call, _res, req) => {
      req.socket.destroy();
    },
    code: 'sequencer_unreachable',
  },
  'a connection cut in the body': { answer: cutInMidBody, code: 'sequencer_unreachable' },
  'a connection cut in a chunked body': { answer: cutInMidChunk, code: 'sequencer_unreachable' },
  'something that is not HTTP': {
    answer: (_call, _res, req) => {
      req.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    },
    code: 'sequencer_bad_response',
  },
} satisfies Record<string, { answer: Answer; code: IntentErrorCode }>;

/** The faults as a table for `it.each`. */
export const faultTable: [name: string, fault: { answer: Answer; code: IntentErrorCode }][] = Object.entries(faults);

/**
 * An address of the loopback interface at which nobody listens. Not a port that was given back, which the next server on
 * this machine may get: one that only a privileged program could take, and none does.
 */
export async function urlOfNobody(): Promise<string> {
  return 'http://127.0.0.1:2';
}
