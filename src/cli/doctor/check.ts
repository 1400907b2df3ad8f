import type { Environment } from '../../config.js';
import type { ConfigProblem } from '../../errors.js';
import type { Finding } from './finding.js';
import type { RunningSite } from './running-site.js';
import type { SoundSettings } from './sound-settings.js';
import type { Visitor } from './visitor.js';
import type { World } from './world.js';

/** What a check looks at. */
export interface DoctorContext {
  readonly env: Environment;
  /** The file that was read beside the environment. */
  readonly envFile: string | undefined;
  readonly production: boolean;
  /** Everything that is wrong with the settings. */
  readonly problems: readonly ConfigProblem[];
  /** The settings that are right. */
  readonly settings: SoundSettings;
  /** Where the site runs, without a path; undefined where nobody said so. */
  readonly siteUrl: URL | undefined;
  /** What the site shows of itself; asked for once. @throws {Error} where it cannot be reached */
  site(): Promise<RunningSite>;
  /** Whether an intent may be created, to see all of the way. */
  readonly mayCreate: boolean;
  readonly world: World;
  /** Asks servers, as a stranger does. */
  readonly visitor: Visitor;
  /** Aborted when the time of the check is over. */
  readonly signal: AbortSignal;
}

/** Looks at one thing. It changes nothing, and what it throws is a finding as well. */
export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;
