import { type Config, isDatabaseSet, ledgerFix, parseConfig, typoNote } from '../config/config.js';
import type {
  ConfigOptions,
  LedgerOptions,
  LimitOptions,
  LoginOptions,
  SequencerOptions,
  SimulatorOptions,
  SiteButtonOptions,
  WebhookOptions,
} from '../config/config-options.js';
import { knownVariables, optionOf } from '../config/variables.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { requireCalled } from '../http/attached-router.js';
import { createTermsResolver, type TermsResolver } from '../http/create-intent/payment-terms.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/logger.js';
import type { SiteMetadata } from '../ledger/payment.js';
import { closestName, unknownOption } from '../reject-unknown.js';
import { problemsOfTelemetry, type TelemetryOption } from '../telemetry/open-telemetry.js';
import type { OnEvent } from '../telemetry/router-event.js';

/** The options of `intentRouter`. An option takes precedence over its environment variable. */
export interface IntentRouterOptions<Metadata extends object = SiteMetadata> extends ConfigOptions, Hooks<Metadata> {
  /**
   * Called for each event in this process, for logs and analysis; see `docs/events.md`. An event can be lost:
   * fulfill payments in `onPaid`.
   */
  readonly onEvent?: OnEvent | undefined;
  /** OpenTelemetry spans and metrics, through the SDK of the app. Default: enabled if `@opentelemetry/api` is installed. */
  readonly telemetry?: TelemetryOption | undefined;
  /**
   * `console` (the default), winston or another logger that is called with `(message, details)`; for pino see `docs/logs.md`.
   * `false` disables logging.
   */
  readonly logger?: Logger | false | undefined;
  /**
   * For tests: returns the time in milliseconds. Default: `Date.now`, and `performance.now` for lifetimes. The ledger uses the clock of
   * its database: see `advanceTime`.
   */
  readonly testClock?: (() => number) | undefined;
}

export interface RouterSettings {
  /** The options, each read once. */
  readonly options: IntentRouterOptions;
  readonly config: Config;
  /** Undefined for a site without payments. */
  readonly resolveTerms: TermsResolver | undefined;
}

/** The type of an option. Without zod, which would double the time to load this package. */
interface OptionType {
  readonly name: string;
  readonly accepts: (value: unknown) => boolean;
}

const string: OptionType = { name: 'a string', accepts: (value) => typeof value === 'string' };
const strings: OptionType = {
  name: 'a list of strings',
  accepts: (value) => Array.isArray(value) && value.every(string.accepts),
};
const number: OptionType = { name: 'a number', accepts: Number.isFinite };
const boolean: OptionType = { name: 'true or false', accepts: (value) => typeof value === 'boolean' };
const fn: OptionType = { name: 'a function', accepts: (value) => typeof value === 'function' };

/** An object or function with these methods. Its other properties are not read: they may be secret. */
function objectWith(...methods: string[]): OptionType {
  const accepts = (value: unknown): boolean => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function');
  };
  return { name: methods.length > 0 ? `an object with the methods ${methods.join(' and ')}` : 'an object', accepts };
}

const object = objectWith();
/** An object of options. A function or an array has none, and would be ignored. */
const group: OptionType = {
  name: 'an object',
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

function orFalse({ name, accepts }: OptionType): OptionType {
  return { name: `${name}, or false`, accepts: (value) => value === false || accepts(value) };
}

function eitherOf(...types: readonly OptionType[]): OptionType {
  return {
    name: types.map(({ name }) => name).join(', or '),
    accepts: (value) => types.some(({ accepts }) => accepts(value)),
  };
}

/** The types of the members of a group, or of all options. */
interface Types {
  readonly [name: string]: OptionType | Types;
}

const isType = (one: OptionType | Types): one is OptionType => typeof one.accepts === 'function';

type TypesOf<Options> = { readonly [Name in keyof Required<Options>]: OptionType | Types };

/** The type of every option. The configuration checks the values, and the members of smaller groups. */
const optionTypes = {
  origin: string,
  secret: string,
  destination: string,
  routes: group,
  sequencer: {
    url: string,
    grpcUrl: string,
    grpcNames: eitherOf(string, object),
    dialect: string,
    envelopeVersion: string,
    timeoutMs: number,
    transport: objectWith('call', 'close'),
  } satisfies TypesOf<SequencerOptions>,
  simulator: { port: number, stateFile: string } satisfies TypesOf<SimulatorOptions>,
  login: {
    domain: string,
    verifierSecret: string,
    signer: object,
    ttlMs: number,
    confirm: boolean,
    keepSession: strings,
    sessionTtlMs: number,
  } satisfies TypesOf<LoginOptions>,
  ledger: {
    url: string,
    allowFolderInProduction: boolean,
    migrate: boolean,
    settleDelayMs: number,
    watch: group,
    hookLimits: group,
  } satisfies TypesOf<LedgerOptions>,
  limits: { requests: orFalse(group), streams: group, store: object } satisfies TypesOf<LimitOptions>,
  button: {
    walletUrl: string,
    returnOrigins: strings,
    name: string,
    logo: string,
    accent: string,
    help: { url: string, label: string },
    texts: group,
  } satisfies TypesOf<SiteButtonOptions>,
  webhook: { publicKeys: strings } satisfies TypesOf<WebhookOptions>,
  payment: fn,
  clientAmount: group,
  onCreated: fn,
  onPaid: fn,
  onReversed: fn,
  verifyPayment: fn,
  onDeadLetter: fn,
  onLogin: fn,
  onSession: fn,
  onEvent: fn,
  telemetry: eitherOf(boolean, object),
  logger: orFalse(objectWith('warn', 'error')),
  testClock: fn,
} as const satisfies TypesOf<IntentRouterOptions>;

/** What a group accepts besides an object. */
const switches: Readonly<Record<string, OptionType>> = {
  login: boolean,
  webhook: boolean,
  ledger: { name: 'false', accepts: (value) => value === false },
};

/** Checks the options and reads the configuration. @throws {ConfigError} with every missing or invalid setting */
export function parseRouterOptions(options: IntentRouterOptions): RouterSettings {
  requireCalled(options, 'intentRouter', 'a router', 'app.use(intentRouter())');
  if (typeof options !== 'object' || options === null) throw new ConfigError([notAnObject]);
  const { valid, problems } = checkTypes('', options, optionTypes);
  const wrong = new Set(problems.map(({ setting }) => setting));
  const config = collect(problems, () => parseConfig(valid));
  const resolveTerms = collect(problems, () => createTermsResolver(valid));
  problems.push(...problemsOfTelemetry(valid.telemetry));
  if (!isDatabaseSet(valid) && !wrong.has('ledger') && !wrong.has('ledger.url')) {
    problems.push(...hooksWithoutLedger(valid));
  }
  // An option of the wrong type is not reported as missing too.
  const isReported = (setting: string): boolean => {
    const option = knownVariables.includes(setting) ? (optionOf(setting) ?? setting) : setting;
    return !wrong.has(option) && !wrong.has(option.split('.')[0] ?? '');
  };
  const reported = problems.filter(({ setting }) => wrong.has(setting) || isReported(setting));
  if (reported.length > 0 || !config) throw new ConfigError(reported);
  return { options: valid, config, resolveTerms };
}

/** The options of the right type, each read once, and the problems of the others. */
function checkTypes(
  path: string,
  options: object,
  types: Types,
): { readonly valid: IntentRouterOptions; readonly problems: ConfigProblem[] } {
  const known = Object.keys(types);
  const problems: ConfigProblem[] = [];
  const valid: Record<string, unknown> = {};
  // Every known option, including inherited ones, and every other property of the object itself.
  for (const name of new Set([...known.filter((name) => name in options), ...Object.keys(options)])) {
    const setting = path + name;
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!type) {
      problems.push(unknownRouterOption(setting, name, known));
      continue;
    }
    const value = (options as Record<string, unknown>)[name];
    const other = switches[setting];
    const expected = isType(type) ? type : other ? eitherOf(other, group) : group;
    if (value !== undefined && !expected.accepts(value)) problems.push(wrongType(setting, expected.name));
    else if (isType(type) || !group.accepts(value)) valid[name] = value;
    else {
      const inner = checkTypes(`${setting}.`, value as object, type);
      valid[name] = inner.valid;
      problems.push(...inner.problems);
    }
  }
  return { valid, problems };
}

function wrongType(setting: string, expected: string): ConfigProblem {
  return { setting, problem: `It must be ${expected}.`, fix: 'Correct its value, or remove the option.' };
}

/** An option in the wrong group is named with its place. */
function unknownRouterOption(setting: string, name: string, known: readonly string[]): ConfigProblem {
  const found = unknownOption(setting, name, known);
  if (closestName(name, known) !== undefined) return found;
  const places = Object.entries<OptionType | Types>(optionTypes).flatMap(([option, types]) => [
    [option, option] as const,
    ...(isType(types) ? [] : Object.keys(types).map((member) => [member, `${option}.${member}`] as const)),
  ]);
  const meant = closestName(name, [...new Map(places).keys()]);
  return meant === undefined ? found : { ...found, fix: `Did you mean "${new Map(places).get(meant)}"?` };
}

function collect<Value>(problems: ConfigProblem[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

const notAnObject: ConfigProblem = {
  setting: 'intentRouter',
  problem: 'Options must be an object.',
  fix: 'app.use(intentRouter({ payment: (req) => ({ amount, currency }) }))',
};

/** Without a ledger a settled payment could be lost. */
function hooksWithoutLedger(options: IntentRouterOptions): ConfigProblem[] {
  const hooks = (['onPaid', 'onReversed', 'verifyPayment', 'onDeadLetter'] as const).filter((name) => options[name]);
  const problem = `This hook needs a ledger, and no database is set.${typoNote('INTENT_DATABASE_URL')}`;
  // An empty option hides the variable.
  const note =
    options.ledger === false || options.ledger?.url === ''
      ? 'Remove `ledger: false` or an empty `ledger.url`, and set '
      : '';
  return hooks.map((setting) => ({ setting, problem, fix: note + ledgerFix() }));
}
