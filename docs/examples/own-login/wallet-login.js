import express from 'express';

/** How long a login can be completed, in milliseconds. */
const ttlMs = 120_000;

/**
 * The routes of a wallet login. Mount them after express-session.
 * @param options.client creates the logins
 * @param options.signer signs them with the verifier key
 * @param options.domain the domain that publishes the verifier key
 */
export function walletLogin({ client, signer, domain }) {
  const routes = express.Router();

  routes.post('/wallet-login', async (req, res) => {
    const login = { verifier: signer.publicKey, domain };
    const { id, clientSecret } = await client.loginIntents.create({ login, signers: [signer] });
    // The id is not a secret. Only the session that created the login may complete it.
    req.session.walletLogin = { id, expiresAtMs: Date.now() + ttlMs };
    res.status(201).json({ client_secret: clientSecret });
  });

  routes.post('/wallet-login/complete', express.json(), async (req, res) => {
    const { id, expiresAtMs } = req.session.walletLogin ?? {};
    if (!id || req.body?.intent !== id || Date.now() > expiresAtMs)
      return res.status(404).json({ code: 'unknown_login' });
    const { userId } = await client.loginIntents.getUserId({ intent: id, verifier: signer });
    // A new session id, so that nobody who knows the old one shares the login.
    await new Promise((resolve, reject) => req.session.regenerate((error) => (error ? reject(error) : resolve())));
    req.session.userId = userId;
    res.json({ user: { id: userId } });
  });

  return routes;
}
