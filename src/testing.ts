export {
  createWallet,
  type Fault,
  type FaultKind,
  type FaultyOperation,
  type Sequencer,
  type SequencerOptions,
  startSequencer,
  type Wallet,
  type WalletOptions,
  type WalletRequest,
} from './emulator/index.js';
