// The site of tap-to-code.mjs: a page with the button, in production behind a proxy that ends TLS.
import express from 'express';
import { intentRouter } from '../dist/index.js';
import { site } from './measure.mjs';
import { handleCalls } from './process.mjs';

const page = `<!doctype html><meta name="viewport" content="width=device-width">
<script type="module" src="/intent/v1/elements.js"></script><intent-button order="42"></intent-button>`;

/** A sequencer that answers every call at once with a status: `exists`. */
const transport = { call: async () => Uint8Array.of(0x08, 0x01), close: async () => undefined };

handleCalls({
  start: async () => {
    const app = express();
    app.set('trust proxy', 'loopback');
    // Every answer is older than the five minutes for which browsers cache elements.js.
    app.use((_req, res, next) => {
      res.set('Age', '301');
      next();
    });
    app.get('/', (_req, res) => res.type('html').send(page));
    const router = intentRouter({
      sequencer: { transport },
      button: { walletUrl: 'https://wallet.example/open' },
      login: false,
      destination: site.destination,
      payment: () => ({ amount: '4.50', currency: 'usd' }),
    });
    app.use(router);
    await router.ready();
    return new Promise((resolve, reject) => {
      const server = app.listen(0, '127.0.0.1', (error) => (error ? reject(error) : resolve(server.address().port)));
    });
  },
});
