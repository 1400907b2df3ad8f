import { Router } from 'express';
import { sequencerOperationNames } from '../operations/request.js';
import { answerError, parseJson, requireOwnOrigin } from '../servers/json-api.js';
import type { ActiveFault, FaultList } from './active-faults.js';
import { faultKindNames, faultKinds } from './fault-kinds.js';

export function faultsApi(faults: FaultList): Router {
  const router = Router();
  router.use(requireOwnOrigin);
  router.get('/kinds', (_req, res) => {
    const kinds = faultKindNames.map((kind) => ({ kind, ...faultKinds[kind] }));
    res.json({ kinds, operations: sequencerOperationNames });
  });
  router.get('/faults', (_req, res) => {
    res.json({ faults: faults.active.map(summarize) });
  });
  router.post('/faults', ...parseJson, (req, res) => {
    res.status(201).json({ id: faults.add(req.body) });
  });
  router.delete('/faults/:id', (req, res) => {
    faults.clear(Number(req.params.id));
    res.status(204).end();
  });
  router.delete('/faults', (_req, res) => {
    faults.clearAll();
    res.status(204).end();
  });
  router.use(answerError);
  return router;
}

/** JSON has no Infinity: `timesLeft` is unset for a fault without a limit. */
function summarize({ id, fault, timesLeft }: ActiveFault): Record<string, unknown> {
  const { kind, operations, when, ms, httpStatus } = fault;
  const traits = faultKinds[kind];
  return {
    id,
    kind,
    operations,
    ...(traits.when && { when }),
    ...(traits.ms && { ms }),
    ...(traits.httpStatus && { httpStatus }),
    ...(Number.isFinite(timesLeft) && { timesLeft }),
  };
}
