import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { createSigner, generateKeyPair, intentRouter } from 'express-intents';
import session from 'express-session';
import { walletLogin } from './wallet-login.js';

// In production, set both secrets and the domain.
const {
  PORT = 3000,
  INTENT_VERIFIER_SECRET: verifierSecret = generateKeyPair().secret,
  INTENT_DOMAIN: domain = 'shop.example',
  SESSION_SECRET: secret = randomBytes(32).toString('hex'),
} = process.env;
// The router serves the button, the status and the key file of the domain. Its own login is not used.
const router = intentRouter({ login: { verifierSecret, domain }, routes: { session: false } });
const app = express();
app.use(router, express.static('public'));
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }));
app.use(walletLogin({ client: router.client, signer: createSigner(verifierSecret), domain }));
app.get('/account', (req, res) => {
  if (!req.session.userId) return res.redirect('/');
  res.send(`Hello ${req.session.userId}`);
});
const simulator = await router.ready();
await once(app.listen(PORT, '127.0.0.1'), 'listening');
console.log(`The site is at http://localhost:${PORT}. Ctrl+C stops it.`);
if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
