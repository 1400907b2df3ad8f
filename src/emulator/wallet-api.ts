import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express';
import { IntentError, SequencerError } from '../errors.js';
import { formatAmount } from '../intents/money.js';
import { awaited } from './awaited.js';
import { requireOwnOrigin } from './http-guard.js';
import type { IntentRecord, IntentStore } from './intent-store.js';
import { readError } from './read-error.js';
import type { Wallet } from './wallet.js';

const recentCount = 5;

/** The JSON API of the wallet page: its simulated wallets, and what a person can do with one. */
export function walletApi(wallets: readonly Wallet[], intents: IntentStore): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/wallets', (_req, res) => {
    res.json({ wallets: wallets.map(({ name }) => name) });
  });
  router.get('/intents', (_req, res) => {
    res.json({ intents: intents.recent(recentCount).map(summarize) });
  });
  for (const action of ['scan', 'confirm', 'reject'] as const) {
    const act = async (req: Request, res: Response): Promise<void> => {
      const { wallet, code } = readCommand(req, wallets);
      const request = await wallet[action](code);
      const user = request.login ? { userId: wallet.userId(request.login.domain) } : {};
      res.json({ request, ...user, submitted: intents.get(request.id)?.submitted ?? false });
    };
    router.post(`/${action}`, requireJson, express.json({ limit: '4kb' }), awaited(act));
  }
  router.use(answerError);
  return router;
}

// A page of another site can send a form or plain text without asking; JSON it cannot.
const requireJson: RequestHandler = (req, _res, next) => {
  next(req.is('application/json') ? undefined : new IntentError('unsupported_media_type'));
};

function readCommand(req: Request, wallets: readonly Wallet[]): { wallet: Wallet; code: string } {
  const body: unknown = req.body;
  const { wallet: name, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const wallet = wallets.find((one) => one.name === name);
  if (!wallet) throw new IntentError('invalid_request', 'There is no such wallet.');
  if (typeof code !== 'string') throw new IntentError('invalid_request', 'The code is missing.');
  return { wallet, code };
}

function summarize(record: IntentRecord): Record<string, string | number> {
  const { id, request, createdAtMs, submitted, rejected, codeScanned } = record;
  const state = submitted ? 'submitted' : rejected ? 'rejected' : codeScanned ? 'scanned' : 'created';
  const common = { id, kind: request.kind, createdAtMs, state };
  if (request.kind === 'login') return { ...common, domain: request.login.domain };
  return { ...common, amount: formatAmount(request.money), currency: request.money.currency };
}

/** Says what happened in full: this is a tool for developers, and the machine is theirs. */
const answerError: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) return next(error);
  const known = error instanceof IntentError ? error : fromParser(error);
  const message = (known instanceof SequencerError && known.serviceMessage) || known.message;
  res.status(known.status).json({ error: { code: known.code, message } });
};

function fromParser(error: unknown): IntentError {
  const { status } = readError(error);
  if (status === 413) return new IntentError('body_too_large');
  if (status === 415) return new IntentError('unsupported_media_type');
  return new IntentError(status === 400 ? 'invalid_json' : 'internal_error');
}
