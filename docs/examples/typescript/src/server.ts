import { once } from 'node:events';
import { createServer, intentRouter } from 'express-intents';
import { createApp } from './app.js';
import { payments } from './payments.js';

const router = intentRouter(payments);
const server = createServer(createApp(router));
process.once('SIGTERM', async () => {
  await router.close();
  server.close();
});

async function start(): Promise<void> {
  console.log('Opening the database. The first start takes a few seconds.');
  const simulator = await router.ready();
  await router.database.query('create table if not exists orders (id text primary key, article text not null)');
  const port = Number(process.env.PORT ?? 3000);
  await once(server.listen(port), 'listening');
  console.log(`The site is at http://localhost:${port}`);
  if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
}
start().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
