import { byId, make } from './make.js';
import { refill } from './reconcile.js';

/** Shows the simulated wallets, and who each of them is where. */
export function showWallets(wallets) {
  refill(byId('wallet-list'), wallets, () => wallets.map(walletItem));
}

/** The names of wallets by their accounts and users. */
export function namesByKey(wallets) {
  const keys = wallets.flatMap(({ name, account, users }) => [
    [account, name],
    ...users.map((user) => [user.userId, name]),
  ]);
  return Object.fromEntries(keys);
}

function walletItem({ name, account, users }) {
  const known = users.map(({ domain, userId }) => identity(`User at ${domain}`, userId));
  return make('li', {}, make('h3', {}, name), make('dl', {}, identity('Pays from', account), ...known));
}

const identity = (term, key) => make('div', {}, make('dt', {}, term), make('dd', {}, make('code', {}, key)));
