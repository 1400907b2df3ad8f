import { once } from 'node:events';
import { createShop } from './app.js';

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const { app } = await createShop();
  const port = process.env.PORT ?? 3000;
  await once(app.listen(port), 'listening');
  console.log(`The shop is at http://localhost:${port}. Ctrl+C stops it.`);
}
start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
