import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import compression from 'compression';
import connectPgSimple from 'connect-pg-simple';
import cookieParser from 'cookie-parser';
import { doubleCsrf } from 'csrf-csrf';
import express from 'express';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import { createPassport } from './accounts.js';
import { createAdmin } from './admin.js';
import { createIntents } from './intents.js';
import { createShop } from './shop.js';

const secret = process.env.SESSION_SECRET ?? randomBytes(32).toString('hex');
const secure = process.env.NODE_ENV === 'production';
const Store = connectPgSimple(session);

const { doubleCsrfProtection } = doubleCsrf({
  getSecret: () => secret,
  getSessionIdentifier: (req) => req.session.id,
  getCsrfTokenFromRequest: (req) => req.body?._csrf,
  cookieName: 'csrf',
  cookieOptions: { secure },
});

export function createApp({ pool, log = morgan('tiny'), ...options }) {
  const app = express();
  const passport = createPassport(pool);
  const router = createIntents(pool, options);

  app.use(express.json(), express.urlencoded());
  app.use(helmet(), compression(), log);
  app.use(session({ store: new Store({ pool }), secret, resave: false, saveUninitialized: false, cookie: { secure } }));
  app.use(passport.session());
  app.use(router); // after the session and passport, before the CSRF middleware
  app.use(cookieParser(), doubleCsrfProtection);
  app.use(express.static(join(import.meta.dirname, 'public')), createShop(pool, passport));
  app.use('/admin', createAdmin(router)); // an app of its own
  return { app, router };
}
