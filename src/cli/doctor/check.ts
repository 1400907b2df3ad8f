import type { Environment } from '../../config/variables.js';
import type { ConfigProblem } from '../../errors.js';
import type { LedgerSettings } from '../../ledger/ledger-settings.js';
import type { Host } from '../command.js';
import type { ExternalClient } from './external-client.js';
import type { RunningSite, SiteRoutes } from './running-site.js';

export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly text: string }
  | { readonly level: 'warning' | 'error'; readonly text: string; readonly fix: string };

export type Level = Finding['level'];

export const ok = (text: string): Finding => ({ level: 'ok', text });
/** The reason why the check did not run. */
export const skipped = (text: string): Finding => ({ level: 'skipped', text });
export const noRoute = (name: string): Finding =>
  skipped(`the route \`${name}\` is disabled, or no router was found; see the check \`site\``);
/** May be intentional. */
export const warning = (text: string, fix: string): Finding => ({ level: 'warning', text, fix });
/** Must be fixed. */
export const failure = (text: string, fix: string): Finding => ({ level: 'error', text, fix });

/** The valid settings. An invalid setting is undefined, and the checks of the others still run. */
export interface ValidSettings {
  readonly sequencerUrl: string | undefined;
  readonly grpcUrl: string | undefined;
  readonly hasLogin: boolean;
  /** Undefined without logins, like the keys. */
  readonly domain: string | undefined;
  readonly publicKeys: readonly string[] | undefined;
  readonly origin: string | undefined;
  readonly database: LedgerSettings['database'] | undefined;
  readonly walletUrl: string | undefined;
  readonly takesWebhooks: boolean;
  /** Proves to the site that this environment has its secrets. Undefined without logins, or with any invalid setting. */
  readonly doctorToken: string | undefined;
}

export interface DoctorContext {
  readonly env: Environment;
  /** The argument `--env-file` of this command, with a space before it, for printed commands. Empty without it. */
  readonly envFile: string;
  readonly production: boolean;
  readonly problems: readonly ConfigProblem[];
  readonly settings: ValidSettings;
  readonly siteUrl: URL | undefined;
  /** The response of the site, requested once. @throws {Error} if the site cannot be reached */
  site(): Promise<RunningSite>;
  readonly host: Host;
  readonly client: ExternalClient;
  readonly signal: AbortSignal;
}

/** A check changes nothing. An error that it throws becomes a finding. */
export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;

/** Undefined if the site does not respond or does not serve the file of the button; the check `site` reports that. */
export const routesOf = ({ site }: DoctorContext): Promise<SiteRoutes | undefined> =>
  site().then(
    ({ routes }) => routes,
    () => undefined,
  );
