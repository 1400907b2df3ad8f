export {
  createWallet,
  type Fault,
  type FaultKind,
  type FaultyOperation,
  type InProcessTransport,
  type Sequencer,
  type SequencerOptions,
  startSequencer,
  type Wallet,
  type WalletOptions,
  type WalletRequest,
} from './emulator/index.js';
