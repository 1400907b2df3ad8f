import { setTimeout as wait } from 'node:timers/promises';
import { type RequestHandler, Router } from 'express';
import { reversePayment } from '../operations/payment.js';
import { answerError, parseJson, requireOwnOrigin } from '../servers/json-api.js';
import { intentNotFound } from '../state/intent-store.js';
import type { SimulatorState } from '../state/simulator-state.js';
import type { Wallet } from '../wallet/wallet.js';
import { describeTimeline, inspectIntent, listInspectedIntents } from './inspected-intent.js';

export function inspectorApi(state: SimulatorState, wallets: readonly Wallet[]): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/events', changeEvents(state));
  router.get('/intents', (_req, res) => {
    const other = state.journal.timeline(undefined)?.entries.length ?? 0;
    res.json({ intents: listInspectedIntents(state), other, faults: state.faults.active.length });
  });
  router.get('/intents/:id', (req, res) => {
    const { id } = req.params;
    const intent = inspectIntent(state, id, wallets);
    if (!intent) throw intentNotFound(id);
    res.json(intent);
  });
  router.get('/other', (_req, res) => {
    res.json(describeTimeline(state.journal.timeline(undefined)));
  });
  router.post('/intents/:id/reverse', ...parseJson, (req, res) => {
    reversePayment(state, String(req.params.id));
    res.status(204).end();
  });
  router.use(answerError);
  return router;
}

const maxStreams = 50;
/** Changes within this time are sent as one event, in milliseconds. */
const coalesceMs = 80;
const heartbeatMs = 20_000;
const eventStream = { 'content-type': 'text/event-stream' };

/** Server-Sent Events that announce a change. The page then fetches the new state. */
function changeEvents({ journal, closing }: SimulatorState): RequestHandler {
  let openStreams = 0;
  return (req, res) => {
    if (req.method === 'HEAD') return void res.writeHead(200, eventStream).end();
    if (openStreams >= maxStreams) return void res.status(503).end();
    openStreams += 1;
    const disconnect = new AbortController();
    const heartbeat = setInterval(() => res.write(': heartbeat\n\n'), heartbeatMs).unref();
    res.on('close', () => {
      openStreams -= 1;
      clearInterval(heartbeat);
      disconnect.abort();
    });
    res.writeHead(200, eventStream);
    res.write('retry: 1000\ndata: changed\n\n');
    const signal = AbortSignal.any([closing, disconnect.signal]);
    const send = async (): Promise<void> => {
      while (!signal.aborted) {
        await journal.changed(signal);
        await wait(coalesceMs, undefined, { ref: false, signal }).catch(() => undefined);
        if (!signal.aborted) res.write('data: changed\n\n');
      }
      res.end();
    };
    void send();
  };
}
