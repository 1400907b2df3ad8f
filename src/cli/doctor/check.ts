import type { Environment } from '../../config/config-options.js';
import type { ConfigProblem } from '../../errors.js';
import type { LedgerSettings } from '../../ledger/ledger-settings.js';
import type { Host } from '../command.js';
import type { ExternalClient, RunningSite } from './external-client.js';

/** The result of a check: one line and, for a problem, its fix. */
export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly text: string }
  | { readonly level: 'warning' | 'error'; readonly text: string; readonly fix: string };

export type Level = Finding['level'];

export const ok = (text: string): Finding => ({ level: 'ok', text });
/** The check did not run, for this reason. */
export const skipped = (text: string): Finding => ({ level: 'skipped', text });
/** May be intentional. */
export const warning = (text: string, fix: string): Finding => ({ level: 'warning', text, fix });
/** Must be fixed. */
export const failure = (text: string, fix: string): Finding => ({ level: 'error', text, fix });

/** The settings that are present and valid, so that each is checked whatever is wrong with the others. */
export interface ValidSettings {
  /** base_url, or `embedded`. */
  readonly sequencerUrl: string | undefined;
  readonly grpcUrl: string | undefined;
  /** Undefined without logins, like the keys. */
  readonly domain: string | undefined;
  /** Of the verifier, in Base58. The first signs. */
  readonly publicKeys: readonly string[] | undefined;
  readonly origin: string | undefined;
  readonly database: LedgerSettings['database'] | undefined;
  readonly walletUrl: string | undefined;
  readonly takesWebhooks: boolean;
}

/** What a check works with. */
export interface DoctorContext {
  readonly env: Environment;
  readonly production: boolean;
  /** Every problem of the configuration. */
  readonly problems: readonly ConfigProblem[];
  readonly settings: ValidSettings;
  /** Origin of the running site, when it was given. */
  readonly siteUrl: URL | undefined;
  /** What the site shows of itself, requested once. @throws {Error} when the site cannot be reached */
  site(): Promise<RunningSite>;
  readonly host: Host;
  readonly client: ExternalClient;
  /** Aborts when the check has taken too long. */
  readonly signal: AbortSignal;
}

/** Checks one thing and changes nothing. What it throws becomes a finding. */
export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;
