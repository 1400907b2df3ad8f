import { ConfigError, type ConfigProblem } from '../errors.js';
import type { VerifierKeyRing } from '../keys/key-ring.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import type { ConfigOptions, Routes } from './config-options.js';
import { ledgerFixFor, readLedger } from './ledger.js';
import { type LimitConfig, readLimits } from './limits.js';
import { deriveKeys, type LoginConfig, readKeyRing, readLogin, readSecrets } from './login.js';
import { Report } from './report.js';
import { readSequencer, type SequencerConfig } from './sequencer.js';
import {
  checkButtonConfig,
  readDestination,
  readOrigin,
  readReturnOrigins,
  readRoutes,
  readWalletUrl,
  readWebhook,
  type WebhookConfig,
} from './site.js';
import { readSiteButton, type SiteButton } from './site-button.js';
import { findTypos, modeWarnings, unknownNote } from './typos.js';
import { type Environment, trimVariables } from './variables.js';

export interface Config {
  readonly production: boolean;
  /** Whether all cookies are `Secure`: the site is served over https. */
  readonly isHttps: boolean;
  readonly sequencer: SequencerConfig;
  readonly login: LoginConfig | undefined;
  readonly destination: string | undefined;
  readonly origin: string | undefined;
  readonly webhook: WebhookConfig | undefined;
  /** Undefined if not set. The simulator then uses its own wallet page. */
  readonly walletUrl: string | undefined;
  readonly returnOrigins: readonly string[];
  readonly button: SiteButton;
  readonly routes: Routes;
  readonly limits: LimitConfig;
  readonly ledger: LedgerSettings | undefined;
  /** Keys of 32 bytes that encrypt what `createPayment` stores. The first encrypts; all of them decrypt. May be empty. */
  readonly siteKeys: readonly Uint8Array[];
  readonly notices: readonly string[];
  /** Probable mistakes, logged once at startup. */
  readonly warnings: readonly string[];
}

/**
 * Reads the options and the environment.
 * @param isReadOnly for the doctor: no file is written
 * @throws {ConfigError} with all problems and their fixes
 */
export function parseConfig(options: ConfigOptions = {}, given: Environment = process.env, isReadOnly = false): Config {
  const report = new Report(options);
  const env = trimVariables(given);
  const production = env.NODE_ENV === 'production';
  const source = { options, env, production, report, isReadOnly };
  const ledger = readLedger(source);
  const sequencer = readSequencer(source, ledger);
  // A custom transport may reach a real sequencer, which must get neither a generated key nor the account for development. In production
  // `simulator` is an error, and the settings that the real sequencer needs are reported with it.
  const isSimulated = sequencer.url === 'simulator' && !options.sequencer?.transport && !production;
  const secrets = readSecrets(source);
  const login = readLogin(source, isSimulated, secrets);
  const destination = readDestination(source, isSimulated);
  const origin = readOrigin(source);
  const webhook = readWebhook(source, isSimulated);
  const walletUrl = readWalletUrl(source);
  const returnOrigins = readReturnOrigins(source);
  const button = readSiteButton(source);
  const routes = readRoutes(source);
  checkButtonConfig(source, { walletUrl, returnOrigins, routes, ...button.element });
  const limits = readLimits(source);
  report.refuseQuotes(env);
  if (report.problems.length > 0) throw configErrorOf(report, env);
  const typos = findTypos(env).map(
    ({ name, meant }) => `${name} is set but not used. If you mean ${meant}, rename it.`,
  );
  const unknown = unknownNote(env);
  if (unknown !== '') report.notices.push(`${unknown} See docs/reference.md for the variables.`);
  const lacksWallet = !walletUrl && !isSimulated && routes.elements !== false;
  return Object.freeze({
    production,
    isHttps: production || !!origin?.startsWith('https://'),
    sequencer,
    login,
    destination,
    origin,
    webhook,
    walletUrl,
    returnOrigins,
    button,
    routes,
    limits,
    ledger,
    siteKeys: deriveKeys('express-intents site v1', secrets, login?.keyRing),
    notices: Object.freeze(report.notices),
    warnings: Object.freeze([
      ...typos,
      ...modeWarnings(given, production),
      ...(lacksWallet ? [noWalletUrl] : []),
      ...(production && login && secrets.length === 0 ? [`${noSecret.problem} ${noSecret.fix}`] : []),
    ]),
  });
}

export const noDestination = {
  problem: 'INTENT_DESTINATION is not set.',
  fix: 'Set it to the account that receives the payments.',
} as const;

export const ignoreIfReturned = 'Ignore this warning if the `payment` hook always returns `destination`';

export const noSecret = {
  problem:
    'INTENT_SECRET is not set. A key derived from the verifier secret encrypts the session cookies, so removing that secret ' +
    'logs everybody out.',
  fix: 'Set it to at least 32 random characters.',
} as const;

const noWalletUrl =
  'INTENT_WALLET_URL is not set. A button without `wallet-url` has no link to the wallet: visitors whose wallet ' +
  'is on the same device must copy the code into it. Set INTENT_WALLET_URL to the URL of the page that opens the wallet. ' +
  'Ignore this if every button has `wallet-url`.';

function configErrorOf({ problems }: Report, env: Environment): ConfigError {
  const unknown = unknownNote(env);
  const noteOn = ({ setting, problem }: ConfigProblem): string =>
    typoNote(setting, env) || (unknown !== '' && problem.startsWith('It is not set.') ? ` ${unknown}` : '');
  return new ConfigError(problems.map((one) => ({ ...one, problem: one.problem + noteOn(one) })));
}

/** A sentence that names a variable which may be a typo of this one. Empty if there is none. */
export function typoNote(variable: string, env: Environment = processEnvironment()): string {
  const typo = findTypos(env).find(({ meant }) => meant === variable);
  return typo ? ` ${typo.name} is set and looks like a typo. Rename it to ${variable}.` : '';
}

/** The trimmed variables of this process. */
export function processEnvironment(): Environment {
  return trimVariables(process.env);
}

export function ledgerFix(): string {
  return ledgerFixFor(processEnvironment());
}

export function isDestinationSet({ destination }: ConfigOptions, env: Environment = processEnvironment()): boolean {
  return (destination ?? env.INTENT_DESTINATION ?? '') !== '';
}

/** Whether a database is set, valid or not. */
export function isDatabaseSet({ ledger }: ConfigOptions, env: Environment = processEnvironment()): boolean {
  return ledger !== false && (ledger?.url ?? env.INTENT_DATABASE_URL ?? '') !== '';
}

/** Reads the settings of the ledger from the environment only, for the command line. @throws {ConfigError} */
export function parseLedgerSettings(env: Environment = processEnvironment()): LedgerSettings {
  const report = new Report();
  const settings = readLedger({ options: {}, env, production: false, report });
  if (settings) return settings;
  if (!env.INTENT_DATABASE_URL) {
    const problem = `It is not set. It names the database of the ledger.${typoNote('INTENT_DATABASE_URL', env)}`;
    report.problem(
      'INTENT_DATABASE_URL',
      problem,
      `Set it to the value that the site uses, such as INTENT_DATABASE_URL=postgres://user:password@host:5432/database.`,
    );
  }
  throw new ConfigError(report.problems);
}

/** Reads the verifier keys from the environment only, for the command line. @throws {ConfigError} */
export function parseLoginKeys(env: Environment = processEnvironment()): VerifierKeyRing {
  const report = new Report();
  const keyRing = readKeyRing({ options: {}, env, production: false, report }, false);
  if (keyRing) return keyRing;
  throw new ConfigError(report.problems);
}
