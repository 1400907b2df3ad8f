import express, { type Express } from 'express';
import { type IntentRouter, requireLogin } from 'express-intents';

/** Creates the app of the site. */
export function createApp(router: IntentRouter): Express {
  const app = express();
  app.use(router, express.static('public'));
  app.get('/orders/:id', async (req, res) => {
    const { rows } = await router.database.query<{ article: string }>('select article from orders where id = $1', [
      req.params.id,
    ]);
    const [order] = rows;
    if (order) res.json(order);
    else res.status(404).json({ error: 'Not confirmed yet.' });
  });
  app.get('/account', requireLogin(), (req, res) => {
    res.json(req.intent.user);
  });
  return app;
}
