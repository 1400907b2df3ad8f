import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { readError, SequencerError } from '../../errors.js';
import { packageFile } from '../../package-file.js';
import { decode, v1 } from '../../wire/codec.js';
import { openResponse, operations } from '../../wire/envelope.js';
import { faultsApi } from '../faults/faults-api.js';
import { type HttpAnswer, performFaultyHttpCall } from '../faults/faulty-call.js';
import { inspectorApi } from '../inspector/inspector-api.js';
import { dispatch } from '../operations/dispatch.js';
import { intentIdIn, type OperationRequest } from '../operations/request.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { instanceHeader } from '../state/state-owner.js';
import type { Wallet } from '../wallet/wallet.js';
import { walletApi } from '../wallet/wallet-api.js';
import { requireLoopbackHost, setSafeHeaders } from './http-guard.js';
import { asyncHandler } from './json-api.js';

const page = fileURLToPath(packageFile('simulator/page/'));
const octetStream = 'application/octet-stream';

/** The Express app of the simulator: the proxy, the pages with their APIs, and a health check. */
export function createSimulatorApp(state: SimulatorState, wallets: readonly Wallet[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requireLoopbackHost, setSafeHeaders);
  app.get('/healthz', (_req, res) => {
    res.set(instanceHeader, state.instance).type('text/plain').send('ok');
  });
  app.use('/v1/api', allowBrowsers);
  app.post('/v1/api', ...readBytes, performCall(state, { requestIn: readEnvelope, answerOf: answerEnvelope }));
  app.options('/v1/api', (_req, res) => {
    res.set({ Allow: proxyMethods, 'Access-Control-Max-Age': '600' });
    res.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': 'Content-Type' });
    res.status(204).end();
  });
  app.all('/v1/api', (_req, res) => {
    res.status(405).set('Allow', proxyMethods).end();
  });
  app.post('/v1/createIntent', ...readBytes, performCall(state, { requestIn: creationOf, answerOf: answerBare }));
  app.all('/v1/createIntent', (_req, res) => {
    res.status(405).set('Allow', 'POST').end();
  });
  app.use('/wallet/api', walletApi(wallets, state.intents));
  app.get('/', (_req, res) => res.redirect('/inspector'));
  app.use('/inspector/api', inspectorApi(state, wallets));
  app.get('/inspector', (_req, res) => res.sendFile('inspector.html', { root: page, cacheControl: false }));
  app.get('/wallet', (_req, res) => res.sendFile('wallet.html', { root: page, cacheControl: false }));
  app.use('/faults/api', faultsApi(state.faults));
  app.use('/wallet/page', express.static(page, { index: false, redirect: false, cacheControl: false }));
  app.use(answerStatus);
  return app;
}

const proxyMethods = 'POST, OPTIONS';

/**
 * Allows pages of any origin to call the proxy (interface section 1, item 2). It reads no cookies, and calls are authorized by
 * their signatures. The pages of the simulator and their APIs stay same-origin.
 */
const allowBrowsers: RequestHandler = (_req, res, next) => {
  res.set({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' });
  next();
};

const requireOctetStream: RequestHandler = (req, res, next) => {
  if (req.is(octetStream)) return next();
  res.status(415).type('text/plain').send(`The content type must be ${octetStream}.`);
};

const readBytes: readonly RequestHandler[] = [
  requireOctetStream,
  express.raw({ type: octetStream, limit: '64kb', inflate: false }),
];

/** How an HTTP route carries an operation. */
interface CallFormat {
  /** The operation in a request body; undefined if the body has none. */
  readonly requestIn: (body: unknown) => OperationRequest | undefined;
  /** The response that carries an envelope. */
  readonly answerOf: (envelope: Uint8Array) => HttpAnswer;
}

/** Performs the operation in a request, with its fault if there is one. */
function performCall(state: SimulatorState, { requestIn, answerOf }: CallFormat): RequestHandler {
  return asyncHandler(async (req, res) => {
    const request = requestIn(req.body);
    if (!request) {
      res.status(400).type('text/plain').send('The body is not a Request envelope.');
      return;
    }
    const perform = () => dispatch(state, request, 'proxy', req.headers.origin);
    const fault = state.faults.consume(request);
    if (fault) state.journal.recordFault(request, 'proxy', fault);
    const forget = () => state.intents.forget(intentIdIn(request));
    const envelope = fault
      ? await performFaultyHttpCall({ fault, perform, forget, signal: state.closing }, { req, res, answerOf })
      : await perform();
    if (!envelope || res.destroyed) return;
    const { status, contentType, body } = answerOf(envelope);
    res.status(status).type(contentType).send(Buffer.from(body));
  });
}

/** The proxy (interface section 4.1): a Request envelope. */
function readEnvelope(body: unknown): v1.Request | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    return decode(v1.Request, body);
  } catch {
    return undefined;
  }
}

/** The proxy (interface section 4.1): a Response envelope. */
const answerEnvelope = (body: Uint8Array): HttpAnswer => ({ status: 200, contentType: octetStream, body });

/** The request of `/v1/createIntent` (interface section 4.3): a Message without an envelope. */
const creationOf = (body: unknown): OperationRequest => ({
  ...operations.createIntent,
  body: Buffer.isBuffer(body) ? body : new Uint8Array(),
});

/** The response of `/v1/createIntent`: a GetStatusResponse without an envelope, or the reason of a refusal as JSON. */
function answerBare(envelope: Uint8Array): HttpAnswer {
  try {
    return { status: 200, contentType: octetStream, body: openResponse(envelope) };
  } catch (error) {
    // Only a fault makes an envelope that cannot be decoded.
    if (!(error instanceof SequencerError) || error.code !== 'sequencer_error') return answerEnvelope(envelope);
    const refusal = { error: { code: 'intent_refused', message: error.serviceMessage } };
    return { status: 400, contentType: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(refusal)) };
  }
}

const answerStatus: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) return next(error);
  const { status } = readError(error);
  res.status(typeof status === 'number' && status >= 400 ? status : 500).end();
};
