import { createServer, intentRouter } from 'express-intents';
import { createApp } from './app.js';
import { payments } from './payments.js';

const router = intentRouter(payments);
const embedded = await router.ready();
await router.database.query('create table if not exists orders (id text primary key, article text not null)');

const server = createServer(createApp(router));
server.listen(Number(process.env.PORT ?? 3000));
if (embedded) console.log(`The simulated wallet is at ${embedded.walletUrl}`);

process.once('SIGTERM', async () => {
  await router.close();
  server.close();
});
