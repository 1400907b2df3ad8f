export type { InProcessTransport } from './in-process-transport.js';
export type { WalletRequest } from './read-code.js';
export { type Sequencer, type SequencerOptions, startSequencer } from './start-sequencer.js';
export { createWallet, type Wallet, type WalletOptions } from './wallet.js';
