import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Defaults for `npm start`. The environment overrides them. */
const defaults: Readonly<Record<string, string>> = {
  INTENT_SEQUENCER_URL: 'simulator',
  INTENT_DOMAIN: 'patient-kettle.example',
  // To reset the shop, stop it and delete this folder.
  INTENT_DATABASE_URL: fileURLToPath(new URL('../ledger', import.meta.url)),
};

/** Trims the variables in place, as the router does. */
export function trimVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  for (const [name, value = ''] of Object.entries(env)) env[name] = value.trim();
  return env;
}

/** Not in production: there the intent router reports what is missing. */
export function setDevelopmentDefaults(env: NodeJS.ProcessEnv): void {
  if (env.NODE_ENV === 'production') return;
  for (const [name, value] of Object.entries(defaults)) env[name] ||= value;
}

/** Whether the database is a folder that does not exist yet. */
export function isFirstStart({ INTENT_DATABASE_URL: url = '' }: NodeJS.ProcessEnv): boolean {
  return !/^postgres(?:ql)?:/.test(url) && !existsSync(url);
}

/** The base_url of the sequencer, also of the simulator. */
export function simulatorUrlOf(env: NodeJS.ProcessEnv): string {
  const url = env.INTENT_SEQUENCER_URL ?? '';
  return url === 'simulator' ? `http://127.0.0.1:${env.INTENT_SIMULATOR_PORT || 4747}` : url.replace(/\/+$/, '');
}
