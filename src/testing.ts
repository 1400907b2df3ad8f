export {
  createWallet,
  type InProcessTransport,
  type Sequencer,
  type SequencerOptions,
  startSequencer,
  type Wallet,
  type WalletOptions,
  type WalletRequest,
} from './emulator/index.js';
