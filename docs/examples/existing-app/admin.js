import express from 'express';
import { html, page } from './page.js';

/** Lists the payments, for admins. */
export function createAdmin(router) {
  const admin = express();
  admin.use((req, res, next) => (req.user?.admin ? next() : res.redirect('/login')));
  admin.get('/', async (_req, res) => {
    const { intents: payments } = await router.intents.list({ kind: 'payment', limit: 100 });
    const rows = payments.map(
      ({ description, amount, state }) => html`<tr><td>${description}<td>${amount}<td>${state}`,
    );
    res.send(page('Payments', html`<table><tr><th>item<th>usd<th>state${rows}</table>`));
  });
  return admin;
}
