import { intents } from './generated/emulator.js';

/** The messages of `proto/emulator.proto`, which only the embedded sequencer and its wallet speak. */
export import emulator = intents.emulator.v1;

/** How the embedded sequencer's own wallet submits a payment; not part of the interface. */
export const submitPayment = { service: 'Emulator', method: 'submitPayment' } as const;
