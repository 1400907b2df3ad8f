import { startSequencer } from '../../src/emulator/index.js';

// The payment service of a fleet. It says in a line of JSON where it listens, and reads the key file of one domain at one
// origin.

const { FLEET_DOMAIN = '', FLEET_ORIGIN = '' } = process.env;
const { url } = await startSequencer({ localDomains: { [FLEET_DOMAIN]: FLEET_ORIGIN }, unref: false });
console.log(JSON.stringify({ url }));
