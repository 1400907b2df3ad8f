import { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { type Config, type ConfigOptions, parseConfig } from './config.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import type { Hooks } from './http/hooks.js';
import type { Logger } from './http/logger.js';
import { paymentTerms, type TermsOf } from './http/payment-terms.js';

export interface IntentRouterOptions extends ConfigOptions, Hooks {
  /** Default: `console`. */
  readonly logger?: Logger | undefined;
  /** The time in milliseconds, for tests. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The options, once they are known to be sound. */
export interface RouterSettings {
  readonly config: Config;
  /** Undefined where the site takes no payments. */
  readonly termsOf: TermsOf | undefined;
}

const text = z.string('text').optional();
const number = z.number('a number').optional();
const aFunction = z.custom((value) => typeof value === 'function', 'a function');
const withFunctions = (...names: string[]) =>
  z.looseObject(Object.fromEntries(names.map((name) => [name, aFunction])), `an object with ${names.join(' and ')}`);

/** The form of every option. What a text or a number may be is for the configuration to tell. */
const forms: Readonly<Record<keyof IntentRouterOptions, z.ZodType>> = {
  sequencerUrl: text,
  emulatorPort: number,
  dialect: text,
  timeoutMs: number,
  verifierSecret: text,
  verifierSecretFile: text,
  signer: z.looseObject({}, 'an object').optional(),
  domain: text,
  destination: text,
  origin: text,
  secret: text,
  login: z.boolean('true or false').optional(),
  loginTtlMs: number,
  sessionTtlMs: number,
  routes: z.looseObject({}, 'an object').optional(),
  transport: withFunctions('call', 'close').optional(),
  payment: aFunction.optional(),
  clientAmount: z.looseObject({}, 'an object').optional(),
  onCreated: aFunction.optional(),
  logger: withFunctions('warn', 'error').optional(),
  now: aFunction.optional(),
};

/**
 * Checks the options of `intentRouter` and reads the configuration they make with the environment.
 * @throws {ConfigError} with everything that is missing or wrong at once
 */
export function parseRouterOptions(options: IntentRouterOptions): RouterSettings {
  if (options instanceof IncomingMessage) throw new ConfigError([notCalled]);
  const problems = Object.entries(options).flatMap(([name, value]) => problemsOfForm(name, value));
  const wrong = new Set(problems.map(({ setting }) => setting));
  const sound: IntentRouterOptions = Object.fromEntries(Object.entries(options).filter(([name]) => !wrong.has(name)));
  const config = collect(problems, () => parseConfig(sound));
  const termsOf = collect(problems, () => paymentTerms(sound));
  if (problems.length > 0 || !config) throw new ConfigError(problems);
  return { config, termsOf };
}

function problemsOfForm(name: string, value: unknown): ConfigProblem[] {
  if (name === 'onPaid') return [noLedger];
  if (!Object.hasOwn(forms, name)) return [unknownOption(name)];
  const issue = forms[name as keyof IntentRouterOptions].safeParse(value).error?.issues[0];
  if (!issue) return [];
  const setting = [name, ...issue.path].join('.');
  return [{ setting: name, problem: `${setting} has the wrong type.`, mend: `Make it ${issue.message}.` }];
}

/** Runs a reader; the problems it throws are put with the others. */
function collect<Value>(problems: ConfigProblem[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

const notCalled: ConfigProblem = {
  setting: 'intentRouter',
  problem: 'It was handed to app.use() itself, and so is called with every request.',
  mend: 'app.use(intentRouter())',
};

const noLedger: ConfigProblem = {
  setting: 'onPaid',
  problem: 'It needs a ledger, so that no payment is lost, and this version keeps none.',
  mend: 'Write intents down in onCreated, and ask router.client.paymentIntents.getStatus(id) before you deliver.',
};

/** A misspelt option would otherwise be a default that nobody chose. */
function unknownOption(name: string): ConfigProblem {
  return { setting: name, problem: 'There is no such option.', mend: `Known: ${Object.keys(forms).join(', ')}.` };
}
