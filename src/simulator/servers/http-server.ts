import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { readError } from '../../errors.js';
import { packageFile } from '../../package-file.js';
import { decode, v1 } from '../../wire/codec.js';
import { faultsApi } from '../faults/faults-api.js';
import { performFaultyHttpCall } from '../faults/faulty-call.js';
import { inspectorApi } from '../inspector/inspector-api.js';
import { dispatch } from '../operations/dispatch.js';
import { intentIdIn } from '../operations/request.js';
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
  app.post(
    '/v1/api',
    requireOctetStream,
    express.raw({ type: octetStream, limit: '64kb', inflate: false }),
    proxy(state),
  );
  app.options('/v1/api', (_req, res) => {
    res.set({ Allow: proxyMethods, 'Access-Control-Max-Age': '600' });
    res.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': 'Content-Type' });
    res.status(204).end();
  });
  app.all('/v1/api', (_req, res) => {
    res.status(405).set('Allow', proxyMethods).end();
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

/** The proxy (interface section 4.1): decodes a Request envelope and sends a Response envelope. */
function proxy(state: SimulatorState): RequestHandler {
  return asyncHandler(async (req, res) => {
    const request = readEnvelope(req.body);
    if (!request) {
      res.status(400).type('text/plain').send('The body is not a Request envelope.');
      return;
    }
    const perform = () => dispatch(state, request, 'proxy');
    const fault = state.faults.consume(request);
    if (fault) state.journal.recordFault(request, 'proxy', fault);
    const forget = () => state.intents.forget(intentIdIn(request));
    const envelope = fault
      ? await performFaultyHttpCall({ fault, perform, forget, signal: state.closing }, { req, res })
      : await perform();
    if (envelope && !res.destroyed) res.type(octetStream).send(Buffer.from(envelope));
  });
}

function readEnvelope(body: unknown): v1.Request | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    return decode(v1.Request, body);
  } catch {
    return undefined;
  }
}

const answerStatus: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) return next(error);
  const { status } = readError(error);
  res.status(typeof status === 'number' && status >= 400 ? status : 500).end();
};
