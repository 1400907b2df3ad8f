import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { IntentError } from '../../errors.js';
import { parseHttpUrl } from '../../net/url.js';
import { decode, v1 } from '../../wire/codec.js';
import { encodeErrorResponse, operations } from '../../wire/envelope.js';
import type { ResolvedFault } from '../faults/fault-kinds.js';
import { streamEnvelopes, streamFaultKinds } from '../faults/faulty-stream.js';
import { refusalOf } from '../journal/journal-record.js';
import { openRecordedStream } from '../operations/message-stream.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { isLoopbackHost } from './http-guard.js';

const maxSockets = 200;
const maxPayloadBytes = 64 * 1024;
/** A frame may arrive in at most this many reads. `ws` joins 65,000 reads of one byte in seconds, which block the process. */
const maxBufferedChunks = 4_096;
const pingMs = 30_000;
const requestTimeoutMs = 10_000;
const closeTimeoutMs = 1_000;

const normalClosure = 1000;
const policyViolation = 1008;

export interface StreamServer {
  close(): void;
}

/** Serves message streams over WebSocket at `/v1/api` of an HTTP server (protocol section 5). */
export function serveWebSocketStreams(server: Server, state: SimulatorState): StreamServer {
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    maxBufferedChunks,
  });
  const open = new Set<StreamSocket>();
  const pinging = setInterval(() => {
    for (const socket of open) socket.ping();
  }, pingMs).unref();
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = open.size < maxSockets ? refusedStatus(req) : '503 Service Unavailable';
    if (status) return refuseUpgrade(socket, status);
    // WebSocket serves one operation, so its fault can be chosen before the request arrives.
    const fault = state.faults.consume(operations.openMessageStream, streamFaultKinds);
    const failsUpgrade = fault?.kind === 'disconnect' || fault?.kind === 'status';
    if (failsUpgrade) state.journal.recordFault(operations.openMessageStream, 'websocket', fault);
    if (fault?.kind === 'disconnect') return void socket.destroy();
    if (fault?.kind === 'status') {
      return refuseUpgrade(socket, `${fault.httpStatus} ${STATUS_CODES[fault.httpStatus] ?? 'Fault'}`);
    }
    upgrades.handleUpgrade(req, socket, head, (webSocket) => {
      const stream = new StreamSocket(webSocket, state, fault);
      open.add(stream);
      webSocket.on('close', () => open.delete(stream));
    });
  });
  return {
    close: () => {
      clearInterval(pinging);
      upgrades.close();
      for (const socket of open) socket.terminate();
    },
  };
}

/** Checks the Host as over HTTP, and the Origin, because browsers send no preflight for a WebSocket. */
function refusedStatus({ url = '', headers }: IncomingMessage): string | undefined {
  const { host, origin } = headers;
  const isForeign = origin !== undefined && !isLoopbackHost(parseHttpUrl(origin)?.host);
  if (!isLoopbackHost(host) || isForeign) return '403 Forbidden';
  return url.split('?', 1)[0] === '/v1/api' ? undefined : '404 Not Found';
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/**
 * A WebSocket. Its states:
 *   open       waits for the request, for at most `requestTimeoutMs`
 *   streaming  received a Request envelope with a signed openMessageStream, and sends Response envelopes
 *   closing    sent the close frame; terminated after `closeTimeoutMs`
 *   closed
 * A refused request or a second one is answered with an ERROR envelope, and the socket is closed.
 */
class StreamSocket {
  readonly #socket: WebSocket;
  readonly #state: SimulatorState;
  readonly #fault: ResolvedFault | undefined;
  /** Aborted in the states closing and closed. */
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout;
  #hasRequest = false;
  #awaitsPong = false;

  constructor(socket: WebSocket, state: SimulatorState, fault?: ResolvedFault) {
    this.#socket = socket;
    this.#state = state;
    this.#fault = fault;
    this.#timer = setTimeout(
      () => this.#refuse(`No request received within ${requestTimeoutMs / 1000} seconds.`),
      requestTimeoutMs,
    ).unref();
    socket.on('message', (data, isBinary) => void this.#serve(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#awaitsPong = false;
    });
    // A frame over the limit, or a protocol error. ws sends its own close frame for these.
    socket.on('error', () => this.#close(policyViolation));
    socket.on('close', () => {
      clearTimeout(this.#timer);
      this.#ending.abort();
    });
  }

  /** Sends a ping, or terminates the connection if the last ping was not answered. */
  ping(): void {
    if (this.#awaitsPong) this.terminate();
    else this.#socket.ping();
    this.#awaitsPong = true;
  }

  terminate(): void {
    this.#ending.abort();
    this.#socket.terminate();
  }

  async #serve(data: Buffer, isBinary: boolean): Promise<void> {
    if (this.#ending.signal.aborted) return;
    if (this.#hasRequest) return this.#refuse('A stream accepts only one request.');
    this.#hasRequest = true;
    clearTimeout(this.#timer);
    try {
      if (!isBinary) throw new IntentError('malformed_message', 'Send the envelope in a binary frame.');
      const { signal } = this.#ending;
      const body = streamRequestIn(data);
      const { journal } = this.#state;
      if (this.#fault) journal.recordFault({ ...operations.openMessageStream, body }, 'websocket', this.#fault);
      const responses = openRecordedStream(this.#state, body, signal, 'websocket');
      for await (const envelope of streamEnvelopes(responses, this.#fault, signal)) await this.#send(envelope);
      if (this.#fault?.kind === 'cut') this.terminate();
      else this.#close(normalClosure);
    } catch (error) {
      this.#refuse(refusalOf(error).message);
    }
  }

  /** Resolves when the envelope is written: a slow client has at most one message in memory. */
  #send(envelope: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(envelope, () => resolve());
    });
  }

  #refuse(reason: string): void {
    if (this.#ending.signal.aborted) return;
    this.#socket.send(encodeErrorResponse(reason), () => undefined);
    this.#close(policyViolation);
  }

  #close(code: number): void {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#socket.close(code);
    this.#timer = setTimeout(() => this.#socket.terminate(), closeTimeoutMs).unref();
  }
}

function streamRequestIn(data: Uint8Array): Uint8Array {
  const { service, method, body } = decode(v1.Request, data);
  const { openMessageStream: operation } = operations;
  if (service === operation.service && method === operation.method) return new Uint8Array(body);
  throw new IntentError('not_supported', 'WebSocket serves only Messaging.openMessageStream.');
}
