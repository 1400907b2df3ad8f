import { intents } from './generated/emulator.js';

/** The messages of `proto/emulator.proto`, used only between the embedded sequencer and its wallet. */
export import emulator = intents.emulator.v1;

/** Submits a payment of the simulated wallet. Not part of the interface. */
export const submitPayment = { service: 'Emulator', method: 'submitPayment' } as const;
