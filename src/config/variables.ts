/** The environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variables, and the option that overrides each. The option's value is used even if it is empty. */
const optionOfVariable: Readonly<Record<string, string | undefined>> = {
  INTENT_SEQUENCER_URL: 'sequencer.url',
  INTENT_SEQUENCER_GRPC_URL: 'sequencer.grpcUrl',
  INTENT_SIMULATOR_PORT: 'simulator.port',
  INTENT_SIMULATOR_STATE: 'simulator.stateFile',
  INTENT_VERIFIER_SECRET: 'login.verifierSecret',
  INTENT_VERIFIER_SECRET_FILE: undefined,
  INTENT_DOMAIN: 'login.domain',
  INTENT_DESTINATION: 'destination',
  INTENT_ORIGIN: 'origin',
  INTENT_SECRET: 'secret',
  INTENT_WEBHOOK_PUBLIC_KEY: 'webhook.publicKeys',
  INTENT_WALLET_URL: 'button.walletUrl',
  INTENT_DATABASE_URL: 'ledger.url',
};

/** The variables as every part of the package reads them: a file of secrets ends with a newline, which belongs to no value. */
export function trimVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value?.trim()]));
}

export const knownVariables: readonly string[] = Object.keys(optionOfVariable);

/** The option that a variable sets, such as `sequencer.url` for `INTENT_SEQUENCER_URL`. */
export function optionOf(variable: string): string | undefined {
  return optionOfVariable[variable];
}

type Members = Readonly<Record<string, unknown>>;

/** The option that overrides a variable, if it is set. */
export function overridingOption(variable: string, options: object): string | undefined {
  const option = optionOf(variable);
  const value = option?.split('.').reduce<unknown>((all, name) => (all as Members | undefined)?.[name], options);
  return value === undefined ? undefined : option;
}
