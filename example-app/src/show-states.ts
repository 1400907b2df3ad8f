import { type Request, type Response, Router } from 'express';
import type { Html } from './html.js';
import { stateFrame, statesPage } from './pages/states.js';
import { securityHeaders } from './security-headers.js';

/** `/states`: every state of the wallet's dialog, for whoever works on how it looks. `?lang=ja&dir=rtl` shows it so. */
export function showStates(): Router {
  const routes = Router();
  routes.use(securityHeaders({ ownFrames: true }));
  routes.get('/', (req, res) => send(res, statesPage(...languageOf(req))));
  routes.get('/frame', (req, res) =>
    send(
      res,
      stateFrame(...languageOf(req), req.query.look === 'dark' ? 'dark' : req.query.look === 'shop' ? 'shop' : 'light'),
    ),
  );
  return routes;
}

function languageOf({ query }: Request): [language: string, direction: string] {
  const { lang, dir } = query;
  return [typeof lang === 'string' ? lang : 'en', dir === 'rtl' ? 'rtl' : 'ltr'];
}

function send(res: Response, markup: Html): void {
  res.set('Cache-Control', 'no-store').type('html').send(markup.toString());
}
