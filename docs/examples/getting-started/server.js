import { createShop } from './app.js';

const { app, router } = await createShop();
app.listen(process.env.PORT ?? 3000);
const embedded = await router.ready();
if (embedded) console.log(`The simulated wallet is at ${embedded.walletUrl}`);
