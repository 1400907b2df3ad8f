import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { parseHttpUrl } from '../../net/url.js';
import { operations } from '../../wire/envelope.js';
import { streamFaultKinds } from '../faults/spoil-stream.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { isLoopbackHost } from './http-guard.js';
import { StreamSocket } from './stream-socket.js';

/** Sockets at a time. */
const maxSockets = 200;
const maxPayloadBytes = 64 * 1024;
const pingMs = 30_000;

/** What serves the streams of a server. */
export interface MessageStreams {
  /** Cuts all of them. */
  close(): void;
}

/** Serves message streams over WebSocket at `/v1/api` (protocol section 5), beside what else the server does. */
export function serveMessageStreams(server: Server, state: SequencerState): MessageStreams {
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
  });
  const open = new Set<StreamSocket>();
  const pinging = setInterval(() => {
    for (const socket of open) socket.ping();
  }, pingMs).unref();
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    const status = open.size < maxSockets ? refusalOf(req) : '503 Service Unavailable';
    if (status) return refuse(socket, status);
    // A stream is all that there is over WebSocket, so that it can fail before it was asked for.
    const fault = state.faults.take(operations.openMessageStream, streamFaultKinds);
    const isAtOnce = fault?.kind === 'refuse' || fault?.kind === 'status';
    if (isAtOnce) state.journal.fault(operations.openMessageStream, 'websocket', fault);
    if (fault?.kind === 'refuse') return void socket.destroy();
    if (fault?.kind === 'status')
      return refuse(socket, `${fault.httpStatus} ${STATUS_CODES[fault.httpStatus] ?? 'Fault'}`);
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
      for (const socket of open) socket.cut();
    },
  };
}

/** The same guard as over HTTP; and a page must be one of this machine, because no browser asks before it opens one. */
function refusalOf({ url = '', headers }: IncomingMessage): string | undefined {
  const { host, origin } = headers;
  const isForeign = origin !== undefined && !isLoopbackHost(parseHttpUrl(origin)?.host);
  if (!isLoopbackHost(host) || isForeign) return '403 Forbidden';
  return url.split('?', 1)[0] === '/v1/api' ? undefined : '404 Not Found';
}

function refuse(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
