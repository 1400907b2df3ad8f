import { intents } from './generated/emulator.js';

/** The messages of `proto/emulator.proto`: payments of the simulated wallet, and the health check of the embedded sequencer. */
export import emulator = intents.emulator.v1;

/** Submits a payment of the simulated wallet. Not part of the interface. */
export const submitPayment = { service: 'Emulator', method: 'submitPayment' } as const;
