import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { startSimulator } from '../../src/simulator/index.js';
import './long-timeouts.js';

// The sequencer of a fleet. It prints its address as a line of JSON, and reads the key file of one domain from one
// origin.

// A wallet must not reuse a connection that is being closed.
subscribe('http.server.request.start', (message) => {
  (message as { server: Server }).server.keepAliveTimeout = 3_600_000;
});

const { FLEET_DOMAIN = '', FLEET_ORIGIN = '' } = process.env;
const { url } = await startSimulator({ localDomains: { [FLEET_DOMAIN]: FLEET_ORIGIN }, unref: false });
console.log(JSON.stringify({ url }));
