import { Router } from 'express';
import { currentUser, logOut, requirePayment } from 'express-intents';
import { isRecipe, recipeAt, recipeTerms } from './intents.js';
import { formButton, html, page } from './page.js';

const products = new Map([
  ['tea', { name: 'Smoked black tea', price: 4.5 }],
  ['cup', { name: 'Stoneware cup', price: 18 }],
]);
const requireAccount = (req, res, next) => (req.user ? next() : res.redirect('/login'));

// A browser follows a redirect at once. Otherwise the next page would load the old session, and could overwrite the new one.
const saveAndRedirect = (req, res, next, url) => req.session.save((error) => (error ? next(error) : res.redirect(url)));

export function createShop(pool, passport) {
  const shop = Router();
  shop.use((req, _res, next) => {
    req.session.basket ??= []; // stores the session, because the CSRF token belongs to it
    req.csrf = req.csrfToken(); // once for all forms of a page
    next();
  });

  shop.get('/', (req, res) => {
    const items = [...products].map(
      ([item, { name, price }]) =>
        html`<li>${name}, $${price.toFixed(2)} ${formButton(req, '/basket', 'Add', { item })}`,
    );
    res.send(
      page('Tea shop', html`<ul>${items}</ul><p>For 50 cents: <a href="/recipes/chai">how to make chai</a></p>`),
    );
  });
  shop.post('/basket', (req, res, next) => {
    if (products.has(req.body.item)) req.session.basket.push(req.body.item);
    saveAndRedirect(req, res, next, '/basket');
  });
  shop.get('/basket', (req, res) => {
    const items = req.session.basket.map((item) => html`<li>${products.get(item).name}`);
    const order = items.length > 0 ? formButton(req, '/orders', 'Order') : 'It is empty.';
    res.send(page('Basket', html`<ul id="basket">${items}</ul>${order}`));
  });
  shop.post('/orders', requireAccount, async (req, res, next) => {
    if (req.session.basket.length === 0) return res.redirect('/basket');
    const items = req.session.basket.map((item) => products.get(item));
    const total = items.reduce((sum, { price }) => sum + price, 0).toFixed(2);
    const sql = 'insert into orders (account_id, items, total) values ($1, $2, $3) returning id';
    const { rows } = await pool.query(sql, [req.user.id, items.map(({ name }) => name).join(', '), total]);
    req.session.basket = [];
    saveAndRedirect(req, res, next, `/orders/${rows[0].id}`);
  });
  shop.get('/orders/:id', requireAccount, async (req, res) => {
    const sql = 'select * from orders where id::text = $1 and account_id = $2';
    const [order] = (await pool.query(sql, [req.params.id, req.user.id])).rows;
    if (!order) return res.status(404).send(page('There is no such order.', ''));
    const isExpected = order.state === 'open' && 'paid' in req.query; // onPaid follows in a moment
    if (isExpected) res.set('Refresh', '1');
    const pay = html`<intent-button order="${order.id}" success-url="/orders/${order.id}?paid">Pay</intent-button>`;
    const state = order.state === 'open' && !isExpected ? pay : `This order is ${order.state}.`;
    res.send(page(`Order ${order.id}`, html`<p>${order.items}, $${order.total}</p>${state}`));
  });

  const recipes = Router();
  const pathOf = (req) => req.baseUrl + req.path; // of the whole site, not of `recipes`
  const recipeExists = (req, res, next) =>
    isRecipe(pathOf(req)) ? next() : res.status(404).send(page('Not found', ''));
  const paid = requirePayment((req) => ({ ...recipeTerms(pathOf(req)), order: pathOf(req) }), { payUrl: '/buy' });
  recipes.get('/:name', recipeExists, paid, (req, res) => {
    res.send(page('Recipe', recipeAt(pathOf(req)).text));
  });
  shop.use('/recipes', recipes);
  shop.get('/buy', (req, res) => {
    const requested = String(req.query.return);
    const path = requested.split('?')[0]; // without the query of the page
    const pay = html`<intent-button order="${path}" success-url="${requested}">Pay $${recipeAt(path).price}</intent-button>`;
    res.send(page('Buy this recipe', pay));
  });

  shop.get('/login', (req, res) => {
    const form = html`<form method="post"><input type="hidden" name="_csrf" value="${req.csrf}">
<input name="email" placeholder="Email"> <input name="password" type="password" placeholder="Password"> <button>Log in</button></form>
<intent-button mode="login" success-url="/account">Log in with a wallet</intent-button>`;
    res.send(page('Log in', form));
  });
  // A password login starts a new session too. It keeps the basket, and no login of a wallet.
  const keepBasket = (req, res, next) => {
    res.locals.basket = req.session.basket;
    next();
  };
  shop.post('/login', keepBasket, passport.authenticate('local', { failureRedirect: '/login' }), (req, res, next) => {
    req.session.basket = res.locals.basket;
    saveAndRedirect(req, res, next, '/account');
  });
  shop.post('/logout', (req, res, next) =>
    req.logout((error) => (error ? next(error) : saveAndRedirect(req, res, next, '/'))),
  );
  shop.get('/account', requireAccount, async (req, res) => {
    const rowsOf = async (sql) => (await pool.query(sql, [req.user.id])).rows;
    const orders = await rowsOf('select * from orders where account_id = $1 order by id');
    const wallets = await rowsOf('select * from wallets where account_id = $1');
    const items = orders.map(({ id, items, state }) => html`<li><a href="/orders/${id}">${items}</a> ${state}`);
    const links = wallets.map(
      ({ id }) => html`<li>Wallet ${id.slice(0, 6)} ${formButton(req, '/unlink', 'Unlink', { id })}`,
    );
    const order = JSON.stringify({ linkTo: String(req.user.id) });
    const link = html`<intent-button mode="login" order="${order}" success-url="/account">Link a wallet</intent-button>`;
    const logOut = formButton(req, '/logout', 'Log out');
    res.send(
      page(req.user.email ?? 'Your account', html`<ul>${items}</ul><ul id="wallets">${links}</ul>${link}${logOut}`),
    );
  });
  shop.post('/unlink', requireAccount, async (req, res) => {
    // Without a password the wallet is the only way to log in.
    if (!req.user.password) return res.status(409).send(page('Set a password first.', ''));
    await pool.query('delete from wallets where id = $1 and account_id = $2', [req.body.id, req.user.id]);
    if ((await currentUser(req))?.id === req.body.id) await logOut(req, res);
    res.redirect('/account');
  });
  return shop;
}
