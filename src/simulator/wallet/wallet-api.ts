import { type Request, type Response, Router } from 'express';
import { IntentError } from '../../errors.js';
import { answerError, asyncHandler, parseJson, requireOwnOrigin } from '../servers/json-api.js';
import type { IntentStore } from '../state/intent-store.js';
import type { Wallet } from './wallet.js';

export function walletApi(wallets: readonly Wallet[], intents: IntentStore): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/wallets', (_req, res) => {
    res.json({ wallets: wallets.map(({ name }) => name) });
  });
  for (const action of ['scan', 'confirm', 'decline'] as const) {
    const act = async (req: Request, res: Response): Promise<void> => {
      const { wallet, code } = readCommand(req, wallets);
      const request = await wallet[action](code);
      const user = request.login ? { userId: wallet.userId(request.login.domain) } : {};
      res.json({ request, ...user, submitted: intents.get(request.id)?.submitted ?? false });
    };
    router.post(`/${action}`, ...parseJson, asyncHandler(act));
  }
  router.use(answerError);
  return router;
}

function readCommand(req: Request, wallets: readonly Wallet[]): { wallet: Wallet; code: string } {
  const body: unknown = req.body;
  const { wallet: name, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const wallet = wallets.find((candidate) => candidate.name === name);
  if (!wallet)
    throw new IntentError('invalid_request', 'The wallet is unknown. GET /wallet/api/wallets lists the wallets.');
  if (typeof code !== 'string') throw new IntentError('invalid_request', 'The code is missing. Send it as a string.');
  return { wallet, code };
}
