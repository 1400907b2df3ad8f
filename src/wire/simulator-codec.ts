import { intents } from './generated/simulator.js';

/** The messages of `proto/simulator.proto`: payments of the simulated wallet, and the health check of the simulator. */
export import simulator = intents.simulator.v1;

/** Submits a payment of the simulated wallet. Not part of the interface. */
export const submitPayment = { service: 'Simulator', method: 'submitPayment' } as const;
