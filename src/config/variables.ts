/** The environment variables, and the option that overrides each. The option's value is used even if it is empty. */
const optionOfVariable: Readonly<Record<string, string | undefined>> = {
  INTENT_SEQUENCER_URL: 'sequencerUrl',
  INTENT_SEQUENCER_GRPC_URL: 'grpcUrl',
  INTENT_SIMULATOR_PORT: 'simulator.port',
  INTENT_SIMULATOR_STATE: 'simulator.stateFile',
  INTENT_VERIFIER_SECRET: 'verifierSecret',
  INTENT_VERIFIER_SECRET_FILE: undefined,
  INTENT_DOMAIN: 'domain',
  INTENT_DESTINATION: 'destination',
  INTENT_ORIGIN: 'origin',
  INTENT_SECRET: 'secret',
  INTENT_WEBHOOK_PUBLIC_KEY: 'webhookPublicKey',
  INTENT_WALLET_URL: 'walletUrl',
  INTENT_DATABASE_URL: 'databaseUrl',
};

export const knownVariables: readonly string[] = Object.keys(optionOfVariable);

type Members = Readonly<Record<string, unknown>>;

/** The option that overrides a variable, if it is set. */
export function overridingOption(variable: string, options: object): string | undefined {
  const option = optionOfVariable[variable];
  const value = option?.split('.').reduce<unknown>((all, name) => (all as Members | undefined)?.[name], options);
  return value === undefined ? undefined : option;
}
