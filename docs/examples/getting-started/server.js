import { once } from 'node:events';
import { createShop } from './app.js';

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const { app } = await createShop();
  const port = Number(process.env.PORT ?? 3000);
  await once(app.listen(port, '127.0.0.1'), 'listening');
  console.log(`The shop is at http://localhost:${port}. Ctrl+C stops it.`);
}
start().catch((error) => {
  console.error(error.message);
  if (error.code === 'EADDRINUSE') console.error(`Set another port: PORT=${error.port + 1}`);
  process.exit(1);
});
