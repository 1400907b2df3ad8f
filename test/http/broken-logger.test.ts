import type { NextFunction, Request, Response } from 'express';
import request from 'supertest';
import { urlOfNobody } from '../support/fault-sequencer.js';
import { startSite } from '../support/site.js';

const onError = (_error: unknown, _req: Request, res: Response, _next: NextFunction): void => void res.sendStatus(503);

test('a logger that throws ends neither the process nor the request', async () => {
  const logger = {
    warn: () => {},
    error: () => {
      throw new Error('log volume full');
    },
  };
  const { origin } = await startSite({
    sequencerUrl: await urlOfNobody(),
    logger,
    after: (app) => app.use(onError),
  });
  await request(origin).post('/intent').send({ mode: 'login' }).expect(503);
});
