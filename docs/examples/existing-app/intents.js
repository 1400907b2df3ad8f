import { promisify } from 'node:util';
import { intentRouter, refuse } from 'express-intents';

const recipes = new Map([['/recipes/chai', { price: '0.50', text: 'Simmer the spices, then add the tea.' }]]);
export const isRecipe = (path) => recipes.has(path);
export const recipeAt = (path) => recipes.get(path) ?? refuse('There is no such recipe.', 404);

/** The terms of a recipe, for the payment and for requirePayment. */
export const recipeTerms = (path) => ({ resource: path, amount: recipeAt(path).price, currency: 'usd' });

export function createIntents(pool, options) {
  return intentRouter({
    payment: async (req) => {
      const { order } = req.body;
      if (isRecipe(order)) return { ...recipeTerms(order), description: 'Recipe' };
      const sql = "select id, total from orders where id::text = $1 and account_id = $2 and state = 'open'";
      const { rows } = await pool.query(sql, [String(order), req.user?.id]);
      const { id, total } = rows[0] ?? refuse('This order does not exist, or it is paid.', 404);
      return { amount: total, currency: 'usd', description: `Order ${id}`, metadata: { order: id } };
    },
    onPaid: (payment, { tx }) => setState(tx, payment, 'paid'),
    onReversed: (payment, { tx }) => setState(tx, payment, 'reversed'),
    // Only the button "Link a wallet" sends `linkTo`, the account that its page names. Only its intent links a wallet.
    onCreated: ({ id, kind }, req) => {
      const linkTo = kind === 'login' ? req.body.order?.linkTo : undefined;
      if (linkTo === undefined) return;
      if (!req.user || linkTo !== String(req.user.id)) refuse('You have left this account. Reload this page.', 403);
      req.session.linking = { intent: id, account: req.user.id };
    },
    onLogin: async (wallet, req, { tx, intent }) => {
      const { linking } = req.session;
      const isLinking = linking?.intent === intent && linking.account === req.user?.id;
      await linkWallet(tx, wallet.id, isLinking ? linking.account : undefined);
    },
    // Also runs for a login whose response was lost, without a second onLogin.
    onSession: async (wallet, req) => {
      const { rows } = await pool.query('select account_id as id from wallets where id = $1', [wallet.id]);
      await promisify(req.login.bind(req))(rows[0] ?? refuse('This wallet was unlinked.', 403));
    },
    ...options, // set by tests
    login: { keepSession: ['basket'], ...options.login },
  });
}

const changes = {
  paid: "update orders set state = 'paid', payment = $2 where id = $1 and payment is null",
  reversed: "update orders set state = 'reversed', payment = null where id = $1 and payment = $2",
};

/** Writes the order and the email about it through `tx`: both commit with the payment, or neither. */
async function setState(tx, { id, metadata: { order } }, state) {
  if (order === undefined) return; // a recipe: requirePayment finds its payment
  const { rowCount } = await tx.query(changes[state], [order, id]);
  if (rowCount === 0) {
    // Another payment paid for this order. The operator must pay this one back, unless it is reversed.
    const subject = `Second payment of order ${order}, ${state}: ${id}`;
    await tx.query("insert into emails (address, subject) values ('shop@example.com', $1)", [subject]);
    return;
  }
  const sql = `insert into emails (address, subject)
    select email, $2 from orders join accounts on accounts.id = account_id where orders.id = $1 and email is not null`;
  await tx.query(sql, [order, `Your order ${order} is ${state}.`]);
}

/** Links a wallet to an account: to `linking`, or a new one. Merges an account that has only wallets into `linking`. */
async function linkWallet(tx, wallet, linking) {
  const sql = 'select accounts.id, email from wallets join accounts on accounts.id = account_id where wallets.id = $1';
  // Another first login of this wallet waits for this one.
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [wallet]);
  const [owner] = (await tx.query(sql, [wallet])).rows;
  const account =
    linking ?? owner?.id ?? (await tx.query('insert into accounts default values returning id')).rows[0].id;
  if (!owner) await tx.query('insert into wallets (id, account_id) values ($1, $2)', [wallet, account]);
  if (!owner || owner.id === account) return;
  if (owner.email) refuse('This wallet belongs to another account. Unlink it there first.', 403);
  for (const table of ['orders', 'wallets']) {
    await tx.query(`update ${table} set account_id = $1 where account_id = $2`, [account, owner.id]);
  }
  await tx.query('delete from accounts where id = $1', [owner.id]);
}
