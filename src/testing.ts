export {
  type Clock,
  createWallet,
  type Fault,
  type FaultKind,
  type InProcessTransport,
  type IntentMilestone,
  type SequencerOperation,
  type SignedWebhook,
  type SignWebhookOptions,
  type Simulator,
  type SiteEnvironment,
  type SiteOptions,
  type StartSimulatorOptions,
  startSimulator,
  type Wallet,
  type WalletLogin,
  type WalletOptions,
  type WalletRequest,
  type WebhookClaims,
} from './simulator/index.js';
export { type AdvanceTimeSite, advanceTime } from './testing/advance-time.js';
export { type TemporaryLedger, temporaryLedger } from './testing/temporary-ledger.js';
export { type WaitForIntentOptions, waitForIntent } from './testing/wait-for-intent.js';

/**
 * The header that a browser sends with same-origin requests, for a test client: `request.agent(app).set(sameOriginHeaders)`.
 * A state-changing request with neither this header nor the `Origin` of the site gets 403 `cross_site_request`.
 */
export const sameOriginHeaders = Object.freeze({ 'sec-fetch-site': 'same-origin' as const });
