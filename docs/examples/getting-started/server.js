import { createShop } from './app.js';

console.log('Opening the database. The first start takes a few seconds.');
const { app } = await createShop();
app.listen(process.env.PORT ?? 3000);
console.log(`The shop is at http://localhost:${process.env.PORT ?? 3000}. Ctrl+C ends it.`);
