export type {
  ConfigOptions,
  HookLimits,
  LedgerOptions,
  LimitOptions,
  LoginOptions,
  RequestLimits,
  Routes,
  SequencerOptions,
  SimulatorOptions,
  SiteButtonOptions,
  StreamLimits,
  WatchOptions,
  WebhookOptions,
} from './config/config-options.js';
export {
  ConfigError,
  type ConfigProblem,
  IntentError,
  type IntentErrorCode,
  SequencerError,
  type SequencerErrorCode,
} from './errors.js';
export type { CreatedPayment, CreatePaymentOptions } from './http/create-intent/create-payment.js';
export { type CreateServerOptions, createServer } from './http/create-server.js';
export { refuse } from './http/hook-errors.js';
export type {
  AcceptedIntent,
  ClientAmount,
  HookRequest,
  Hooks,
  IntentUser,
  LoginHookContext,
  SitePaymentTerms,
} from './http/hooks.js';
export type { Logger } from './http/logger.js';
export type { HealthCheck, HealthStatus, RouterHealth } from './http/operations/health.js';
export type { OpenApiDocument } from './http/operations/openapi.js';
export type { RequiredPayment } from './http/paywall/payment-requirement.js';
export { type RequirePaymentOptions, requirePayment } from './http/paywall/require-payment.js';
export { currentUser, logOut, type RequireLoginOptions, requireLogin } from './http/session/require-login.js';
export type { ExactTerms, RecordedExact } from './intents/exact-terms.js';
export { type Sodium, useSodium } from './keys/ed25519.js';
export { createSigner, generateKeyPair, type Signer } from './keys/verifier-key.js';
export type { DatabaseTransaction, Queryable, QueryResult } from './ledger/database/database.js';
export type {
  ArchivedIntent,
  IntentPage,
  IntentRecords,
  IntentState,
  LedgerIntent,
  LedgerLogin,
  LedgerPayment,
  ListOptions,
  PruneOptions,
  SiteDatabase,
  StateChange,
} from './ledger/ledger.js';
export type { DeadLetter, Payment, PaymentHookContext, PaymentHooks, SiteMetadata, Stored } from './ledger/payment.js';
export { type IntentRouter, intentRouter } from './router/intent-router.js';
export type { IntentRouterOptions } from './router/options.js';
export type { SimulatorUrls } from './router/simulator.js';
export type { CreatedIntent, Dialect, IntentStatus } from './sequencer/calls.js';
export type { GrpcNames, OperationName } from './sequencer/grpc/grpc-names.js';
export {
  createIntentClient,
  type IntentClient,
  type IntentClientOptions,
  type PreparedIntent,
} from './sequencer/intent-client.js';
export type { CreateLoginParameters, CreatePaymentParameters, LoginParameters } from './sequencer/intent-parameters.js';
export type { AttemptOptions, CallOptions, TimedAttemptOptions, Transport } from './sequencer/transport.js';
export type { IntentEvent, IntentEventKind } from './sequencer/watch/intent-event.js';
export type { TelemetryProviders } from './telemetry/open-telemetry.js';
export type { RouterEvent, RouterEventType } from './telemetry/router-event.js';
