import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Passport } from 'passport';
import { Strategy } from 'passport-local';

const derive = promisify(scrypt);

/** Logs accounts in by email and password. */
export function createPassport(pool) {
  const find = async (sql, ...values) =>
    (await pool.query(`select * from accounts where ${sql}`, values)).rows[0] ?? false;
  const logIn = async (email, password) => {
    const account = await find('email = $1', email);
    return account && (await matches(password, account.password)) ? account : false;
  };
  const passport = new Passport();
  passport.use(
    new Strategy({ usernameField: 'email' }, (email, password, done) => answer(logIn(email, password), done)),
  );
  passport.serializeUser((account, done) => done(null, account.id));
  // A session that began with a wallet ends when the wallet is unlinked.
  const ofSession = 'id = $1 and ($2::text is null or exists (select from wallets where id = $2 and account_id = $1))';
  passport.deserializeUser((req, id, done) => answer(find(ofSession, id, req.session.intentUser?.id), done));
  return passport;
}

const answer = (promise, done) => promise.then((value) => done(null, value), done);

async function matches(password, stored) {
  const [salt, hash] = stored.split('.');
  return timingSafeEqual(await derive(password, salt, 32), Buffer.from(hash, 'hex'));
}

/** Creates the account of the example, if it does not exist. */
export async function createAccount(pool, { email, password, admin = false }) {
  const salt = randomBytes(16).toString('hex');
  const stored = `${salt}.${(await derive(password, salt, 32)).toString('hex')}`;
  const sql = 'insert into accounts (email, password, admin) values ($1, $2, $3) on conflict do nothing';
  await pool.query(sql, [email, stored, admin]);
}
