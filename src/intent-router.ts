import type { RequestHandler } from 'express';
import { type Config, type ConfigOptions, parseConfig } from './config.js';
import { type EmbeddedAddresses, type EmbeddedSequencer, embeddedSequencer } from './embedded-sequencer.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import { hostCookie } from './http/browser-cookie.js';
import type { Hooks } from './http/hooks.js';
import type { Logger } from './http/logger.js';
import { LoginAttempts } from './http/login-attempts.js';
import { createRouter } from './http/router.js';
import { createSessionStore } from './http/session-store.js';
import { createIntentClient, type IntentClient } from './sequencer/intent-client.js';
import type { Transport } from './sequencer/transport.js';

export interface IntentRouterOptions extends ConfigOptions, Hooks {
  /** Default: `console`. */
  readonly logger?: Logger | undefined;
  /** The time in milliseconds, for tests. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What `app.use()` takes, and what a server needs beside it. */
export interface IntentRouter extends RequestHandler {
  /** The client the routes use, to ask for a status from elsewhere in the app. */
  readonly client: IntentClient;
  /** Resolves when the embedded sequencer listens, with where; to undefined where there is none; rejects with why not. */
  ready(): Promise<EmbeddedAddresses | undefined>;
  /** Lets running calls end and closes what the router holds open. */
  close(): Promise<void>;
}

/**
 * The routes of wallet payments and wallet logins, for `app.use(intentRouter())` at the root of the site.
 * @throws {ConfigError} with everything that is missing or wrong at once
 */
export function intentRouter(options: IntentRouterOptions = {}): IntentRouter {
  refuseUnknownOptions(options);
  const config = parseConfig(options);
  const { logger = console, now = Date.now } = options;
  const embedded =
    config.sequencer.url === 'embedded' && !options.transport ? embeddedSequencer(config, logger) : undefined;
  const client = clientOf(config, options.transport ?? embedded?.transport);
  const { login, production } = config;
  const router = createRouter({
    config,
    client,
    hooks: options,
    logger,
    browserCookie: hostCookie('intent', production),
    attempts: new LoginAttempts(login?.ttlMs ?? 0, now),
    sessions: login && createSessionStore(login, production, now),
  });
  for (const notice of config.notices) logger.warn(`express-intents: ${notice}`);
  return Object.assign(embedded ? embedded.tellItWhereWeAre(router) : router, {
    client,
    ready: async () => embedded?.ready(),
    close: () => closeAll(client, embedded),
  });
}

function clientOf({ sequencer }: Config, transport: Transport | undefined): IntentClient {
  const { url, dialect, timeoutMs } = sequencer;
  return createIntentClient({ url, dialect, timeoutMs, transport });
}

async function closeAll(client: IntentClient, embedded: EmbeddedSequencer | undefined): Promise<void> {
  await client.close();
  await embedded?.close();
}

const optionNames: Readonly<Record<keyof IntentRouterOptions, true>> = {
  sequencerUrl: true,
  emulatorPort: true,
  dialect: true,
  timeoutMs: true,
  verifierSecret: true,
  verifierSecretFile: true,
  signer: true,
  domain: true,
  destination: true,
  origin: true,
  secret: true,
  login: true,
  loginTtlMs: true,
  sessionTtlMs: true,
  routes: true,
  payment: true,
  clientAmount: true,
  onCreated: true,
  logger: true,
  transport: true,
  now: true,
};

/** A misspelt option would otherwise be a default that nobody chose. */
function refuseUnknownOptions(options: IntentRouterOptions): void {
  const problems = Object.keys(options)
    .filter((name) => !Object.hasOwn(optionNames, name))
    .map((name): ConfigProblem => (name === 'onPaid' ? noLedger : unknownOption(name)));
  if (problems.length > 0) throw new ConfigError(problems);
}

const noLedger: ConfigProblem = {
  setting: 'onPaid',
  problem: 'It needs a ledger, so that no payment is lost, and this version keeps none.',
  mend: 'Write intents down in onCreated, and ask router.client.paymentIntents.getStatus(id) before you deliver.',
};

function unknownOption(name: string): ConfigProblem {
  return { setting: name, problem: 'There is no such option.', mend: `Known: ${Object.keys(optionNames).join(', ')}.` };
}
