import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { IntentError, SequencerError } from '../../errors.js';
import { encodePayload, formatClientSecret, nonceLength } from '../../intents/payload.js';
import { intentIdOf, rendezvousKeyPair } from '../../intents/rendezvous.js';
import { randomBytes } from '../../keys/random-bytes.js';
import { generateKey } from '../../keys/verifier-key.js';
import { getStatus, isUnknownOperation } from '../../sequencer/calls.js';
import { createGrpcTransport } from '../../sequencer/grpc/grpc-transport.js';
import { createHttpTransport } from '../../sequencer/http/http-transport.js';
import type { Transport } from '../../sequencer/transport.js';
import { signStreamRequest } from '../../sequencer/watch/message-stream.js';
import { encodeRequest, openResponse, operations } from '../../wire/envelope.js';
import { type Check, type DoctorContext, type Finding, fault, ok, skipped, warning } from './check.js';
import { explainSequencer } from './explain.js';

/**
 * Asks a sequencer for the status of an intent that nobody has made: twice, so that the second time is that of a call over a
 * connection that is there. And whether it has the operation that creates intents. It creates nothing.
 */
async function askStatus(
  transport: Transport,
  { url, setting }: { readonly url: URL; readonly setting: string },
  { signal }: Pick<DoctorContext, 'signal'>,
): Promise<Finding[]> {
  try {
    const { exists } = await getStatus(transport, generateKey().publicKey, { signal });
    const begunAt = performance.now();
    await getStatus(transport, generateKey().publicKey, { signal });
    const tookMs = Math.round(performance.now() - begunAt);
    if (exists) {
      const text = `${url.host} says that an intent exists which nobody has made.`;
      return [fault(text, `Set ${setting} to a real payment service: this one would call everything paid.`)];
    }
    const reason = await reasonAgainstCreate(transport, signal);
    if (reason === undefined) return [ok(`${url.host} answers in ${tookMs} ms`)];
    const text = `${url.host} has no operation Intents.createIntent: ${JSON.stringify(reason.slice(0, 200))}.`;
    return [warning(text, otherDialect)];
  } catch (error) {
    const { why, mend } = explainSequencer(error, url.host, setting);
    return [fault(`No status comes from ${url.host}: ${why}.`, mend)];
  } finally {
    void transport.close();
  }
}

const otherDialect =
  "intentRouter({ dialect: 'messaging' }) if it creates intents by Messaging.sendMessage; over gRPC also grpcNames";

/**
 * What a service says that does not have the operation; undefined where it has. It is sent no message: a service that has
 * the operation refuses that.
 */
async function reasonAgainstCreate(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
  try {
    await transport.call(operations.createIntent, new Uint8Array(), { signal });
  } catch (error) {
    if (isUnknownOperation(error)) return error.serviceMessage || error.message;
  }
  return undefined;
}

/** The sequencer over its HTTP proxy (interface section 4.1). */
export const sequencer: Check = async (context) => {
  const { settings, world } = context;
  const { sequencerUrl, grpcUrl } = settings;
  if (sequencerUrl === 'embedded') return [ok('embedded: it starts with the site, for development')];
  if (sequencerUrl === undefined) {
    return [skipped(grpcUrl ? 'gRPC is used instead of the proxy' : 'there is no right INTENT_SEQUENCER_URL')];
  }
  const transport = createHttpTransport({ url: sequencerUrl, timeoutMs: world.checkMs });
  return askStatus(transport, { url: new URL(sequencerUrl), setting: 'INTENT_SEQUENCER_URL' }, context);
};

/** The sequencer over direct gRPC (interface section 4.2), where that is set. */
export const grpc: Check = async (context) => {
  const { settings, world, env } = context;
  const { grpcUrl } = settings;
  if (grpcUrl === undefined) {
    return [skipped(env.INTENT_SEQUENCER_GRPC_URL ? 'there is no right INTENT_SEQUENCER_GRPC_URL' : 'not used')];
  }
  const transport = createGrpcTransport({ url: grpcUrl, timeoutMs: world.checkMs });
  return askStatus(transport, { url: new URL(grpcUrl), setting: 'INTENT_SEQUENCER_GRPC_URL' }, context);
};

/** After the pong, for a refusal to come. */
const listenMs = 150;

/** The message stream of the sequencer, a WebSocket (interface section 4.5), at the rendezvous of an intent that nobody has made. */
export const stream: Check = async ({ settings, signal }) => {
  const { sequencerUrl, grpcUrl } = settings;
  if (sequencerUrl === 'embedded') return [ok('embedded')];
  if (sequencerUrl === undefined) return [skipped(grpcUrl ? 'over gRPC' : 'there is no right INTENT_SEQUENCER_URL')];
  const url = new URL(`${sequencerUrl.replace(/\/+$/, '')}/v1/api`);
  try {
    return [ok(`${url.host} opens one, and answers a ping in ${await openStream(url, signal)} ms`)];
  } catch (error) {
    const { why, mend } = explainSequencer(error, url.host, 'INTENT_SEQUENCER_URL');
    // Who answers, and not with a WebSocket, is most often a proxy.
    const isReached = error instanceof SequencerError;
    const text = `No message stream opens at ${url.host}: ${why}.`;
    return [isReached ? warning(text, letThrough) : fault(text, mend)];
  }
};

const letThrough =
  'Let WebSockets through every proxy and firewall on the way; until then pages learn of a payment seconds later.';

/** Gives how long a ping takes, in milliseconds. @throws {Error} why there is no stream */
async function openStream(url: URL, signal: AbortSignal): Promise<number> {
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), { perMessageDeflate: false, followRedirects: false });
  const failed = new Promise<never>((_resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      reject(new SequencerError('sequencer_bad_status', `Status ${statusCode}.`, { httpStatus: statusCode }));
    });
    socket.on('message', (data, isBinary) => {
      const refusal = refusalIn(data as Buffer, isBinary);
      if (refusal) reject(refusal);
    });
  });
  try {
    return await Promise.race([pingOver(socket, signal), failed]);
  } finally {
    socket.terminate();
  }
}

async function pingOver(socket: WebSocket, signal: AbortSignal): Promise<number> {
  await once(socket, 'open', { signal });
  socket.send(streamRequest());
  const begunAt = performance.now();
  socket.ping();
  await once(socket, 'pong', { signal });
  const tookMs = Math.round(performance.now() - begunAt);
  await wait(listenMs, undefined, { signal });
  return tookMs;
}

/** An ERROR envelope is the word of a sequencer, which need not wait for an intent that is not there. */
function refusalIn(data: Buffer, isBinary: boolean): unknown {
  try {
    if (!isBinary) throw new SequencerError('sequencer_bad_response', 'The stream brings text.');
    openResponse(new Uint8Array(data));
    return undefined;
  } catch (error) {
    return error instanceof IntentError && error.code === 'sequencer_error' ? undefined : error;
  }
}

function streamRequest(): Uint8Array {
  const payload = encodePayload({ kind: 'login', nonce: randomBytes(nonceLength) });
  const { body } = signStreamRequest(intentIdOf(rendezvousKeyPair(payload)), formatClientSecret(payload));
  return encodeRequest(operations.openMessageStream, body);
}
