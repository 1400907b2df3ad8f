import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { withAbort } from '../../async/timeout.js';
import type { Environment } from '../../config/variables.js';
import { IntentError, SequencerError } from '../../errors.js';
import {
  encodePayload,
  formatClientSecret,
  intentIdOf,
  nonceLength,
  rendezvousKeyPair,
} from '../../intents/payload.js';
import { generateKeyPair } from '../../keys/verifier-key.js';
import { getStatus, isUnknownOperation } from '../../sequencer/calls.js';
import { createGrpcTransport } from '../../sequencer/grpc/grpc-transport.js';
import { compressedResponse } from '../../sequencer/http/http-call.js';
import { createHttpTransport } from '../../sequencer/http/http-transport.js';
import type { Transport } from '../../sequencer/transport.js';
import { signStreamRequest } from '../../sequencer/watch/message-stream.js';
import { encodeRequest, openResponse, operations } from '../../wire/envelope.js';
import { type Check, type DoctorContext, type Finding, failure, ok, skipped, warning } from './check.js';
import { explainNetwork, type NetworkProblem } from './external-client.js';

/** The sequencer over its HTTP proxy (interface section 4.1). */
export const checkSequencer: Check = async (context) => {
  const { settings, host, env } = context;
  const { sequencerUrl, grpcUrl } = settings;
  if (sequencerUrl === 'simulator') return [ok('simulator: it starts with the site, for development')];
  if (sequencerUrl === undefined)
    return [skipped(grpcUrl ? 'INTENT_SEQUENCER_GRPC_URL is used instead' : noValidUrl(env))];
  const transport = createHttpTransport({ url: sequencerUrl, timeoutMs: host.checkTimeoutMs });
  return checkService(transport, { url: new URL(sequencerUrl), setting: 'INTENT_SEQUENCER_URL' }, context);
};

const grpcSetting = 'INTENT_SEQUENCER_GRPC_URL';

/** The sequencer over direct gRPC (interface section 4.2), if its URL is set. */
export const checkGrpc: Check = async (context) => {
  const { settings, host, env } = context;
  const { grpcUrl } = settings;
  if (grpcUrl === undefined) {
    return [
      skipped(
        env.INTENT_SEQUENCER_GRPC_URL
          ? 'INTENT_SEQUENCER_GRPC_URL is not valid'
          : 'INTENT_SEQUENCER_GRPC_URL is not set',
      ),
    ];
  }
  const transport = createGrpcTransport({ url: grpcUrl, timeoutMs: host.checkTimeoutMs });
  return checkService(transport, { url: new URL(grpcUrl), setting: grpcSetting }, context);
};

const noValidUrl = (env: Environment): string =>
  `INTENT_SEQUENCER_URL is ${env.INTENT_SEQUENCER_URL ? 'not valid' : 'not set'}`;

/** Requests a status twice: the second call gives the latency. Checks that the service can create intents, and creates none. */
async function checkService(
  transport: Transport,
  { url, setting }: { readonly url: URL; readonly setting: string },
  { signal }: Pick<DoctorContext, 'signal'>,
): Promise<Finding[]> {
  try {
    const { exists } = await getStatus(transport, generateKeyPair().publicKey, { signal });
    const startedAt = performance.now();
    await getStatus(transport, generateKeyPair().publicKey, { signal });
    const tookMs = Math.round(performance.now() - startedAt);
    if (exists) {
      const text = `${url.host} reports a nonexistent intent as existing.`;
      return [failure(text, `Its reports cannot be trusted. Set ${setting} to the address of the sequencer.`)];
    }
    const problem = await problemOfCreate(transport, url.host, setting, signal);
    return [problem ?? ok(`${url.host} answers in ${tookMs} ms`)];
  } catch (error) {
    const { why, fix } = explainSequencer(error, url.host, setting);
    return [failure(`The status of an intent cannot be read from ${url.host}: ${why}.`, fix)];
  } finally {
    void transport.close();
  }
}

// The doctor cannot see options in the code of the site.
const otherDialectFix =
  "If it creates intents by Messaging.sendMessage, set intentRouter({ sequencer: { dialect: 'messaging' } }). Over gRPC, check " +
  '`sequencer.grpcNames`. Ignore this if the site sets them.';

/** What is wrong with the operation createIntent. The request is empty and creates nothing. */
async function problemOfCreate(
  transport: Transport,
  host: string,
  setting: string,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  try {
    const answer = await transport.call(operations.createIntent, new Uint8Array(), { signal });
    // A sequencer refuses the empty request. A server that answers OK to everything also passes as a sequencer that does not know
    // an intent.
    if (answer.length > 0) return undefined;
    const fix = `Check that ${setting} is the sequencer, and not a server that answers OK to everything.`;
    const text = `${host} accepts the creation of an empty intent. This does not show that it is a sequencer.`;
    return warning(text, fix);
  } catch (error) {
    if (!isUnknownOperation(error)) return undefined;
    const reason = error.serviceMessage || error.message;
    const text = `${host} has no operation Intents.createIntent: ${JSON.stringify(reason.slice(0, 200))}.`;
    return warning(text, otherDialectFix);
  }
}

/** How long to wait after the pong for a message that is not an envelope. Such a message shows another protocol. */
const faultWaitMs = 150;

/** The message stream of the sequencer, a WebSocket (interface section 4.5), for an intent that does not exist. */
export const checkStream: Check = async ({ settings, signal, env }) => {
  const { sequencerUrl, grpcUrl } = settings;
  if (sequencerUrl === 'simulator') return [skipped('the simulator needs no check')];
  if (sequencerUrl === undefined) return [skipped(grpcUrl ? 'gRPC is used instead of WebSocket' : noValidUrl(env))];
  const url = new URL(`${sequencerUrl.replace(/\/+$/, '')}/v1/api`);
  try {
    return [ok(`${url.host} answers a ping in ${await pingStream(url, signal)} ms`)];
  } catch (error) {
    const { why, fix } = explainSequencer(error, url.host, 'INTENT_SEQUENCER_URL');
    const text = `The message stream at ${url.host} does not work: ${why}.`;
    if (!(error instanceof SequencerError) || error.code !== 'sequencer_bad_status') return [failure(text, fix)];
    // Any other status usually comes from a proxy that does not know WebSockets.
    const isRefusal = [401, 403, 429].includes(error.httpStatus ?? 0);
    return [warning(text, isRefusal ? fix : proxyFix)];
  }
};

const proxyFix = 'Allow WebSockets in every proxy and firewall. Without them, pages show a payment a few seconds late.';

/** Returns the milliseconds that a ping takes. @throws {Error} if no stream opens */
async function pingStream(url: URL, signal: AbortSignal): Promise<number> {
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), { perMessageDeflate: false, followRedirects: false });
  const failed = new AbortController();
  socket.on('error', (error) => failed.abort(error));
  socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
    failed.abort(new SequencerError('sequencer_bad_status', `Status ${statusCode}.`, { httpStatus: statusCode }));
  });
  socket.on('message', (data, isBinary) => {
    const fault = faultIn(data as Buffer, isBinary);
    if (fault) failed.abort(fault);
  });
  try {
    return await withAbort(failed.signal, () => pingOver(socket, signal));
  } finally {
    socket.terminate();
  }
}

async function pingOver(socket: WebSocket, signal: AbortSignal): Promise<number> {
  await once(socket, 'open', { signal });
  socket.send(streamRequest());
  const startedAt = performance.now();
  socket.ping();
  await once(socket, 'pong', { signal });
  const tookMs = Math.round(performance.now() - startedAt);
  await wait(faultWaitMs, undefined, { signal });
  return tookMs;
}

/** The fault of a message that is not an envelope. An ERROR envelope is no fault: a sequencer may answer an unknown intent with one. */
function faultIn(data: Buffer, isBinary: boolean): unknown {
  try {
    if (!isBinary) throw new SequencerError('sequencer_bad_response', 'The stream carries text.');
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

/** Why a sequencer cannot be used, and the fix. @param setting the variable with its address */
function explainSequencer(error: unknown, host: string, setting: string): NetworkProblem {
  const unreachableFix = `Check that the sequencer runs, that ${setting} is correct, and that the firewall allows outgoing connections.`;
  if (!(error instanceof IntentError)) return explainNetwork(error, host, unreachableFix);
  const withoutPath = setting === grpcSetting ? '' : ', without /v1/api';
  const setTo = (target: string): string => `Set ${setting} to the ${target}${withoutPath}.`;
  const wrongAddress = setTo('address that the operator of the sequencer gave you');
  switch (error.code) {
    case 'sequencer_bad_status':
      return explainStatus(error, host, wrongAddress, setTo('target of the redirect'));
    case 'sequencer_bad_response':
    case 'malformed_message':
      return {
        why: `${host} does not answer as a sequencer: ${error.message.replace(/\.$/, '')}`,
        fix: error.message === compressedResponse ? 'Turn off this compression.' : wrongAddress,
      };
    case 'sequencer_error':
      return {
        why: `${host} refuses the request`,
        fix: 'Ask the operator of the sequencer whether this site may use it.',
      };
    case 'sequencer_timeout':
      return { why: `${host} does not answer in time`, fix: unreachableFix };
    default:
      return explainNetwork(error, host, unreachableFix);
  }
}

const tooManyRequests = 'Wait a minute. If this persists, ask the operator of the sequencer for a higher limit.';

function explainStatus(error: IntentError, host: string, wrongAddress: string, redirected: string): NetworkProblem {
  const status = error instanceof SequencerError ? (error.httpStatus ?? 0) : 0;
  // The HTTP status of a gRPC status is only an equivalent.
  const [grpcStatus] = /gRPC status \w+/.exec(error.message) ?? [];
  const why = `${host} answers with ${grpcStatus ?? `HTTP status ${status}`}`;
  if (status === 429) return { why, fix: tooManyRequests };
  if (status >= 500) return { why, fix: 'Try again later, or ask its operator.' };
  if (status === 401 || status === 403) return { why, fix: 'Ask the operator of the sequencer to allow this machine.' };
  if (status >= 300 && status < 400) return { why: `${why}, a redirect`, fix: redirected };
  return { why, fix: wrongAddress };
}
