export type { ConfigOptions, ConnectionLimits, RateLimits, Routes } from './config.js';
export type { EmbeddedAddresses } from './embedded-sequencer.js';
export {
  ConfigError,
  type ConfigProblem,
  IntentError,
  type IntentErrorCode,
  SequencerError,
  type SequencerErrorCode,
} from './errors.js';
export { createServer, type ServerOptions } from './http/create-server.js';
export type { HealthCheck, HealthStatus, RouterHealth } from './http/health.js';
export type { ClientAmount, Hooks, IntentRecord, LoginHookContext, SitePaymentTerms } from './http/hooks.js';
export type { Logger, ObjectFirstLogger } from './http/logger.js';
export type { OpenApiDocument } from './http/openapi.js';
export { refuse } from './http/refuse.js';
export { currentUser, type RequireLoginOptions, requireLogin } from './http/require-login.js';
export { type RequirePaymentOptions, requirePayment } from './http/require-payment.js';
export type { RequiredPayment } from './http/required-payment.js';
export type { IntentUser } from './http/session-store.js';
export { type IntentRouter, intentRouter } from './intent-router.js';
export { createSigner, generateKey, type Signer } from './keys/verifier-key.js';
export type { DatabaseTransaction, Queryable, QueryResult } from './ledger/database.js';
export type { IntentState } from './ledger/intent-state.js';
export type {
  ArchivedIntent,
  IntentPage,
  IntentRecords,
  LedgerIntent,
  ListOptions,
  PruneOptions,
  SiteDatabase,
  StateChange,
} from './ledger/ledger.js';
export type { DeadLetter, Payment, PaymentHookContext, PaymentHooks } from './ledger/payment.js';
export type { IntentRouterOptions } from './router-options.js';
export type { Abortable } from './sequencer/abort.js';
export type { Dialect, IntentStatus } from './sequencer/calls.js';
export type { GrpcNames, OperationName } from './sequencer/grpc-names.js';
export {
  type CreatedIntent,
  createIntentClient,
  type IntentClient,
  type IntentClientOptions,
  type PreparedIntent,
} from './sequencer/intent-client.js';
export type { IntentEvent, IntentEventKind } from './sequencer/intent-event.js';
export type { CreateLoginParameters, CreatePaymentParameters, LoginParameters } from './sequencer/intent-parameters.js';
export type { CallOptions, Transport, TryBounds, TryOptions } from './sequencer/transport.js';
export type { RouterEvent, RouterEventType } from './telemetry/router-event.js';
export type { TelemetryProviders } from './telemetry/telemetry-option.js';
