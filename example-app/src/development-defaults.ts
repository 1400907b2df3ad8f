import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the shop needs so that `npm start` alone is enough; none of it is set where the environment says something. */
const defaults: Readonly<Record<string, string>> = {
  INTENT_SEQUENCER_URL: 'embedded',
  INTENT_DOMAIN: 'patient-kettle.example',
  // A folder beside this one. To begin anew, end the shop and remove it.
  INTENT_DATABASE_URL: fileURLToPath(new URL('../ledger', import.meta.url)),
};

/** In production nothing is made up: what is missing is told by the intent router, all at once. */
export function setDevelopmentDefaults(env: NodeJS.ProcessEnv): void {
  if (env.NODE_ENV === 'production') return;
  for (const [name, value] of Object.entries(defaults)) env[name] ||= value;
}

/** Whether the database is a folder that is still to be made. */
export function isFirstStart({ INTENT_DATABASE_URL: url = '' }: NodeJS.ProcessEnv): boolean {
  return !/^postgres(?:ql)?:/.test(url) && !existsSync(url);
}

/** base_url of the payment service, where the embedded one listens too. */
export function sequencerUrlOf(env: NodeJS.ProcessEnv): string {
  const url = env.INTENT_SEQUENCER_URL ?? '';
  return url === 'embedded' ? `http://127.0.0.1:${env.INTENT_EMULATOR_PORT || 4747}` : url.replace(/\/+$/, '');
}
