import { setTimeout as wait } from 'node:timers/promises';
import { type RequestHandler, Router } from 'express';
import { IntentError } from '../../errors.js';
import { requireReversible, reversePayment } from '../operations/payment.js';
import { answerError, parseJson, requireOwnOrigin } from '../servers/json-api.js';
import type { SequencerState } from '../state/sequencer-state.js';
import type { Wallet } from '../wallet/wallet.js';
import { describeTimeline, inspectIntent, listInspectedIntents } from './inspected-intent.js';

/** Domains for which the wallets' user ids are listed. */
const maxDomains = 5;

/** The JSON API of the inspector: intents with their timelines, wallets, and the actions on an intent. */
export function inspectorApi(state: SequencerState, wallets: readonly Wallet[]): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/events', changeEvents(state));
  router.get('/intents', (_req, res) => {
    const other = state.journal.timeline(undefined)?.entries.length ?? 0;
    res.json({ intents: listInspectedIntents(state), other, faults: state.faults.active.length, nowMs: state.now() });
  });
  router.get('/intents/:id', (req, res) => {
    const { id } = req.params;
    const intent = inspectIntent(state, id);
    if (!intent) throw new IntentError('intent_not_found', `There is no intent ${id}.`);
    res.json(intent);
  });
  router.get('/other', (_req, res) => {
    res.json(describeTimeline(state.journal.timeline(undefined)));
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
    reversePayment(state, id);
    res.status(204).end();
  });
  router.post('/intents/:id/mark', ...parseJson, (req, res) => {
    const intent = state.intents.require(String(req.params.id));
    state.intents.update(intent, { marked: readMark(req.body) });
    state.intents.save();
    state.journal.notify();
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

/** The login domains of the newest intents, and the domains with a local key file. */
function knownDomains({ intents, keyFiles }: SequencerState): string[] {
  const named = intents.recent(100).flatMap(({ request }) => request.login?.domain ?? []);
  return [...new Set([...named, ...keyFiles.localDomains])].slice(0, maxDomains);
}

/** Open inspector pages. */
const maxReaders = 50;
/** Changes within this time are one event, in milliseconds. */
const gatherMs = 80;
const heartbeatMs = 20_000;
const eventStream = { 'content-type': 'text/event-stream' };

/** Server-Sent Events that announce a change. The page then fetches the new state. */
function changeEvents({ journal, closing }: SequencerState): RequestHandler {
  let readers = 0;
  return (req, res) => {
    if (req.method === 'HEAD') return void res.writeHead(200, eventStream).end();
    if (readers >= maxReaders) return void res.status(503).end();
    readers += 1;
    const disconnect = new AbortController();
    const heartbeat = setInterval(() => res.write(': heartbeat\n\n'), heartbeatMs).unref();
    res.on('close', () => {
      readers -= 1;
      clearInterval(heartbeat);
      disconnect.abort();
    });
    res.writeHead(200, eventStream);
    res.write('retry: 1000\ndata: changed\n\n');
    const signal = AbortSignal.any([closing, disconnect.signal]);
    const send = async (): Promise<void> => {
      while (!signal.aborted) {
        await journal.changed(signal);
        await wait(gatherMs, undefined, { ref: false, signal }).catch(() => undefined);
        if (!signal.aborted) res.write('data: changed\n\n');
      }
      res.end();
    };
    void send();
  };
}
