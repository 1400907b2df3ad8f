import type { Environment } from '../../config/config-options.js';
import type { ConfigProblem } from '../../errors.js';
import type { ValidSettings } from './valid-settings.js';
import type { RunningSite, Visitor } from './visitor.js';
import type { World } from './world.js';

/** What a check has found: one line, and under what is not as it should be the one thing that mends it. */
export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly text: string }
  | { readonly level: 'warning' | 'fault'; readonly text: string; readonly mend: string };

export type Level = Finding['level'];

export const ok = (text: string): Finding => ({ level: 'ok', text });
/** Was not looked at, and why. */
export const skipped = (text: string): Finding => ({ level: 'skipped', text });
/** It works, and not as well as it should; or it may be as it is meant. */
export const warning = (text: string, mend: string): Finding => ({ level: 'warning', text, mend });
/** It does not work like this. */
export const fault = (text: string, mend: string): Finding => ({ level: 'fault', text, mend });

/** What a check looks at. */
export interface DoctorContext {
  readonly env: Environment;
  readonly production: boolean;
  /** Everything that is wrong with the settings. */
  readonly problems: readonly ConfigProblem[];
  /** The settings that are right. */
  readonly settings: ValidSettings;
  /** Where the site runs, without a path; undefined where nobody said so. */
  readonly siteUrl: URL | undefined;
  /** What the site shows of itself; asked for once. @throws {Error} where it cannot be reached */
  site(): Promise<RunningSite>;
  readonly world: World;
  /** Asks servers, as a stranger does. */
  readonly visitor: Visitor;
  /** Aborted when the time of the check is over. */
  readonly signal: AbortSignal;
}

/** Looks at one thing. It changes nothing, and what it throws is a finding as well. */
export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;
