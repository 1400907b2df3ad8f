export type { Fault } from './faults/fault.js';
export type { FaultKind } from './faults/fault-kinds.js';
export type { FaultyOperation } from './faults/faulty-operation.js';
export type { InProcessTransport } from './in-process-transport.js';
export type { WalletRequest } from './read-code.js';
export { type Sequencer, type SequencerOptions, startSequencer } from './start-sequencer.js';
export { createWallet, type Wallet, type WalletOptions } from './wallet.js';
