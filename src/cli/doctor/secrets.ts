import { stat } from 'node:fs/promises';
import type { Check, DoctorContext } from './check.js';
import { type Finding, ok, skipped, warning } from './finding.js';

/** Who else can read the secrets, and whether they can be guessed. */
export const secrets: Check = async (context) => {
  const { env, envFile, settings } = context;
  const found: Finding[] = [];
  for (const file of [env.INTENT_VERIFIER_SECRET_FILE, hasSecrets(env) ? envFile : undefined]) {
    if (file) found.push(...(await lookAtFile(file)));
  }
  if (isGuessable(env.INTENT_SECRET ?? '')) {
    const mend = `INTENT_SECRET=<what this prints: node -p "crypto.randomBytes(32).toString('base64url')">`;
    found.push(warning('INTENT_SECRET is long enough, and has too few different characters to be random.', mend));
  }
  if (found.length > 0) return found;
  const { publicKeys } = settings;
  if (!publicKeys) return [skipped(whyNoKeys(context))];
  return [
    ok(`${publicKeys.length === 1 ? 'one verifier key' : `${publicKeys.length} verifier keys`}, kept from others`),
  ];
};

function whyNoKeys({ settings, problems }: DoctorContext): string {
  if (problems.some(({ setting }) => setting.startsWith('INTENT_VERIFIER'))) return 'no verifier key that can be read';
  return settings.sequencerUrl === 'embedded' ? 'no verifier key is set: one is made at each start' : 'no verifier key';
}

/** For development alone there may be none. Elsewhere the file may hold secrets that are not ours. */
function hasSecrets(env: DoctorContext['env']): boolean {
  if (env.INTENT_SEQUENCER_URL !== 'embedded') return true;
  const password = /:\/\/[^/@]*:[^/@]+@/.test(env.INTENT_DATABASE_URL ?? '');
  return Boolean(env.INTENT_VERIFIER_SECRET || env.INTENT_SECRET || password);
}

const readableByAll = 0o004;

async function lookAtFile(file: string): Promise<Finding[]> {
  // Windows has no such modes. A file that is not there is told of with the settings.
  const mode = process.platform === 'win32' ? undefined : (await stat(file).catch(() => undefined))?.mode;
  if (mode === undefined || (mode & readableByAll) === 0) return [];
  return [warning(`Every user of this machine can read ${file}, which has secrets in it.`, `chmod 600 ${file}`)];
}

/** Random characters hardly repeat themselves so often. */
function isGuessable(secret: string): boolean {
  return secret.split(',').some((part) => part.trim().length >= 32 && new Set(part.trim()).size < 10);
}
