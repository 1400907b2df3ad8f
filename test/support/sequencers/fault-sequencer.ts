import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { encodeOkResponse, type Operation } from '../../../src/wire/envelope.js';

/** One received call; `n` counts the calls of this server from 1. */
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
  /** The received envelopes, decoded. */
  readonly calls: { service: string; method: string; body: Uint8Array }[];
  /** The HTTP requests that carried them. */
  readonly requests: { method: string; path: string; headers: IncomingHttpHeaders; envelope: Uint8Array }[];
  /** The number of connections so far, and of those that are open. */
  readonly connections: number;
  readonly openConnections: number;
  /** Changes the response. */
  answerWith(answer: Answer): void;
  close(): Promise<void>;
}

/** A sequencer that responds as the test sets, on a free port of the loopback address. */
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

const open: FaultSequencer[] = [];

/** A fault sequencer that is closed after its test. */
export async function faultSequencer(answer: Answer): Promise<FaultSequencer> {
  const sequencer = await startFaultSequencer(answer);
  open.push(sequencer);
  return sequencer;
}

afterEach(async () => {
  for (const sequencer of open.splice(0)) await sequencer.close();
});

/** The whole body, or undefined if the client disconnected before its end. */
async function readBody(req: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req) chunks.push(chunk as Buffer);
    return new Uint8Array(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
}

/** Responds with an OK envelope and a serialized inner message, by default that of a plain success. */
export function ok(body?: Uint8Array): Answer {
  return (call, res, req) => bytes(encodeOkResponse(body ?? plainSuccess(call.operation.method)))(call, res, req);
}

/** The inner message of a plain success: a created intent exists. */
export function plainSuccess(method: string): Uint8Array {
  if (method === 'createIntent') return encode(v1.GetStatusResponse, { exists: true });
  if (method === 'sendMessage') return encode(v1.SendMessageResponse, { messageId: { value: new Uint8Array(16) } });
  return new Uint8Array();
}

/** Responds with these bytes and HTTP status 200. */
export function bytes(answer: Uint8Array): Answer {
  return (_call, res) => {
    res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': answer.length }).end(answer);
  };
}

/** The error text of the faulty service, which must never reach a browser. */
export const canary = 'canary-7f3a: row 17 of table intents, user root';

/**
 * A loopback address without a listener. A released port could be reused by another server, so this is a privileged port that
 * no program uses.
 */
export async function unreachableUrl(): Promise<string> {
  return 'http://127.0.0.1:2';
}
