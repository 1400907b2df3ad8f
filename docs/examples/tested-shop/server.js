import { createShop } from './app.js';

const port = Number(process.env.PORT ?? 3000);
const fail = ({ message }) => {
  console.error(message);
  process.exit(1);
};
console.log('Opening the database. The first start takes a few seconds.');
const { app } = await createShop().catch(fail);
const url = `http://localhost:${port}`;
app.listen(port, '127.0.0.1', (error) => (error ? fail(error) : console.log(`The shop is at ${url}`)));
