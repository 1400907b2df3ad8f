import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createWallet } from '../../src/simulator/index.js';
import './long-timeouts.js';
import { Shoppers } from './shoppers.js';

// The visitors of a fleet: some keep event streams open, others arrive at a rate. It prints a line when they have started. On
// input they leave, and it prints their results as JSON.

const { FLEET_ORIGIN = '', FLEET_SEQUENCER = '', LISTENERS = '0', RATE = '1', PAY_EVERY = '10' } = process.env;

const wallet = createWallet({ url: FLEET_SEQUENCER, name: 'Ada' });
const shoppers = new Shoppers(FLEET_ORIGIN, wallet);
for (let count = 0; count < Number(LISTENERS); count += 1) await shoppers.listen();
const coming = shoppers.come(Number(RATE), Number(PAY_EVERY));
console.log('{}');

const input = createInterface({ input: process.stdin });
await once(input, 'line');
const visits = await shoppers.leave();
await coming;
console.log(JSON.stringify(visits));
input.close();
