import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpTransport } from '../../../src/sequencer/http-transport.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { encodeOkResponse } from '../../../src/wire/envelope.js';
import { urlOfNobody } from './fault-sequencer.js';
import type { FaultWay, FaultyLine, Phase } from './fault-way.js';
import { type ProxyFault, type ProxyFaultName, proxyFaults } from './proxy-faults.js';

/** The HTTP/1.1 proxy (interface section 4.1), with a faulty one between us and the real one. */
export const proxyWay: FaultWay = { name: 'the proxy', faults: proxyFaults, openLine };

interface Struck {
  readonly fault: ProxyFaultName;
  readonly phase: Phase;
  times: number;
}

async function openLine(upstream: string): Promise<FaultyLine> {
  const received: FaultyLine['received'] = [];
  const transports: Transport[] = [];
  let struck: Struck | undefined;
  const next = (): Struck | undefined => {
    if (!struck || struck.times < 1) return undefined;
    struck.times -= 1;
    return struck;
  };
  const server = createServer((req, res) => {
    res.on('error', () => undefined);
    answer({ req, res, struck: next(), received, upstream }).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const nobody = await urlOfNobody();
  const open = (url: string): Transport => {
    const transport = createHttpTransport({ url, timeoutMs: 1_000 });
    transports.push(transport);
    return transport;
  };
  return {
    received,
    connect: () => {
      const [toServer, toNobody] = [open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), open(nobody)];
      const isRefused = (): boolean => struck?.fault === 'refuse' && struck.phase === 'before send' && !!next();
      return { ...toServer, call: (...args) => (isRefused() ? toNobody : toServer).call(...args) };
    },
    strike: (fault, phase, times) => {
      struck = { fault: fault as ProxyFaultName, phase, times };
    },
    lift: () => {
      struck = undefined;
    },
    close: async () => {
      server.closeAllConnections();
      await Promise.all(transports.map((transport) => transport.close()));
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly struck: Struck | undefined;
  readonly received: FaultyLine['received'];
  readonly upstream: string;
}

/** In place of an answer that the service never made. */
const madeUp = encodeOkResponse(new Uint8Array(200));

async function answer({ req, res, struck, received, upstream }: Incoming): Promise<void> {
  const { spoil }: ProxyFault = proxyFaults[struck?.fault ?? 'stall'];
  if (struck?.phase === 'before send') {
    spoil({ req, res, answer: madeUp });
    return;
  }
  const envelope = Buffer.concat(await req.toArray());
  const { method, body } = decode(v1.Request, envelope);
  received.push({ method, body });
  if (struck?.phase === 'after send') {
    spoil({ req, res, answer: madeUp });
    return;
  }
  const headers = { 'content-type': 'application/octet-stream' };
  const response = await fetch(`${upstream}/v1/api`, { method: 'POST', headers, body: envelope });
  const right = new Uint8Array(await response.arrayBuffer());
  if (struck) spoil({ req, res, answer: right });
  else res.writeHead(response.status, headers).end(right);
}
