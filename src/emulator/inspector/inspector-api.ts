import { Router } from 'express';
import { IntentError } from '../../errors.js';
import { requireReversible, reverseSubmission } from '../operations/submission.js';
import { requireOwnOrigin } from '../servers/http-guard.js';
import { answerError, parseJson } from '../servers/json-api.js';
import type { SequencerState } from '../state/sequencer-state.js';
import type { Wallet } from '../wallet/wallet.js';
import { describeTrail, inspectIntent, listIntents } from './inspected-intent.js';
import { inspectorEvents } from './inspector-events.js';

/** Domains that the wallets' users are told for. */
const maxDomains = 5;

/** The JSON API of the inspector: what has come to the sequencer, and what a person can do about it. */
export function inspectorApi(state: SequencerState, wallets: readonly Wallet[]): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/events', inspectorEvents(state));
  router.get('/intents', (_req, res) => {
    const other = state.journal.trail(undefined)?.entries.length ?? 0;
    res.json({ intents: listIntents(state), other, faults: state.faults.active.length, nowMs: state.now() });
  });
  router.get('/intents/:id', (req, res) => {
    const { id } = req.params;
    const intent = inspectIntent(state, id);
    if (!intent) throw new IntentError('intent_not_found', `There is no intent ${id}.`);
    res.json(intent);
  });
  router.get('/other', (_req, res) => {
    res.json(describeTrail(state.journal.trail(undefined)));
  });
  router.get('/wallets', (_req, res) => {
    const domains = knownDomains(state);
    const userIds = (wallet: Wallet) => domains.map((domain) => ({ domain, userId: wallet.userId(domain) }));
    res.json({
      wallets: wallets.map((wallet) => ({ name: wallet.name, account: wallet.account, users: userIds(wallet) })),
    });
  });
  router.post('/intents/:id/reverse', ...parseJson, (req, res) => {
    const id = String(req.params.id);
    requireReversible(state.intents.require(id));
    reverseSubmission(state, id);
    res.status(204).end();
  });
  router.post('/intents/:id/mark', ...parseJson, (req, res) => {
    const record = state.intents.require(String(req.params.id));
    state.intents.update(record, { marked: readMark(req.body) });
    state.intents.save();
    state.journal.touch();
    res.status(204).end();
  });
  router.use(answerError);
  return router;
}

function readMark(body: unknown): boolean {
  const { marked } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (typeof marked !== 'boolean') throw new IntentError('invalid_request', 'Send {"marked": true} or false.');
  return marked;
}

/** Where people log in: of the newest intents, and the sites of this machine. */
function knownDomains({ intents, keyFiles }: SequencerState): string[] {
  const named = intents.recent(100).flatMap(({ request }) => request.login?.domain ?? []);
  return [...new Set([...named, ...keyFiles.localDomains])].slice(0, maxDomains);
}
