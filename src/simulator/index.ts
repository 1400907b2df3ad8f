export type { Fault, FaultKind } from './faults/fault-kinds.js';
export type { SequencerOperation } from './operations/request.js';
export type { SignedWebhook, SignWebhookOptions, WebhookClaims } from './outbound/send-webhook.js';
export type { InProcessTransport } from './servers/in-process-transport.js';
export type { SiteEnvironment, SiteOptions } from './site-settings.js';
export {
  type Simulator,
  type StartSimulatorOptions,
  startSimulator,
  startSimulatorWithPortFix,
} from './start-simulator.js';
export type { Clock } from './state/clock.js';
export type { IntentMilestone } from './state/wait-for-milestone.js';
export { createWallet, type Wallet, type WalletLogin, type WalletOptions } from './wallet/wallet.js';
export type { WalletRequest } from './wallet/wallet-request.js';
