export {
  IntentError,
  type IntentErrorCode,
  SequencerError,
  type SequencerErrorCode,
} from './errors.js';
export type { ExactTerms } from './intents/exact-terms.js';
export { type Sodium, useSodium } from './keys/ed25519.js';
export { createSigner, generateKeyPair, type Signer } from './keys/verifier-key.js';
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
