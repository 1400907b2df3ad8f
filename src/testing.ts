export {
  type Clock,
  createWallet,
  type Fault,
  type FaultKind,
  type FaultyOperation,
  type InProcessTransport,
  type IntentMark,
  type Sequencer,
  type SequencerOptions,
  type SignedWebhook,
  type SiteEnvironment,
  type SiteOptions,
  type SiteOptionsRequest,
  startSequencer,
  type Wallet,
  type WalletLogin,
  type WalletOptions,
  type WalletRequest,
  type WebhookClaims,
  type WebhookOptions,
} from './emulator/index.js';
export { fromOwnPage } from './testing/from-own-page.js';
export { type PassTimeSite, passTime } from './testing/pass-time.js';
export { type TemporaryLedger, temporaryLedger } from './testing/temporary-ledger.js';
export { type UntilOptions, untilIntent } from './testing/until-intent.js';
