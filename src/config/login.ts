import { readFileSync } from 'node:fs';
import { maxTimerMs } from '../async/timeout.js';
import { IntentError } from '../errors.js';
import { createKeyRing, deriveKey, type VerifierKeyRing } from '../keys/key-ring.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import type { Signer } from '../keys/verifier-key.js';
import { parseVerifyingKey } from '../keys/verifying-key.js';
import type { ConfigOptions, ConfigSource, LoginOptions } from './config-options.js';
import { developmentKey, developmentKeyFile } from './development-key.js';
import type { Report } from './report.js';

export interface LoginConfig {
  readonly keyRing: VerifierKeyRing;
  readonly domain: string;
  /** Maximum time from the start of a login to its completion. */
  readonly ttlMs: number;
  readonly sessionTtlMs: number;
  readonly confirm: boolean;
  readonly keepSession: readonly string[];
  /** Keys of 32 bytes for cookies, at least one. The first encrypts; all of them decrypt. */
  readonly cookieKeys: readonly Uint8Array[];
}

/** @param secrets of `INTENT_SECRET` */
export function readLogin(
  source: ConfigSource,
  isSimulated: boolean,
  secrets: readonly string[],
): LoginConfig | undefined {
  if (source.options.login === false) return undefined;
  const keyRing = readKeyRing(source, isSimulated);
  const domain = readDomain(source, isSimulated);
  const cookieKeys = readCookieKeys(source, { keyRing, domain, secrets });
  const options = readLoginOptions(source);
  return keyRing && domain ? Object.freeze({ keyRing, domain, cookieKeys, ...options }) : undefined;
}

function readLoginOptions({
  options,
  report,
}: ConfigSource): Pick<LoginConfig, 'ttlMs' | 'sessionTtlMs' | 'confirm' | 'keepSession'> {
  const given = loginOptions(options);
  const { confirm = false } = given;
  return {
    ttlMs: report.duration('login.ttlMs', given.ttlMs, 120_000, { max: maxTimerMs }),
    sessionTtlMs: report.duration('login.sessionTtlMs', given.sessionTtlMs, 7 * 24 * 3_600_000),
    confirm,
    keepSession: readKeepSession(given.keepSession, report),
  };
}

/** Each login sets these members of the session. */
const ownMembers = ['cookie', 'intentUser'];

function readKeepSession(given: readonly string[] = [], report: Report): readonly string[] {
  const fix = "login: { keepSession: ['basket'] }";
  const own = given.find((name) => ownMembers.includes(name));
  if (own === undefined) return Object.freeze([...given]);
  report.problem('login.keepSession', `${own} cannot be kept, because each login sets it.`, fix);
  return [];
}

const persistedKeyNotice = `The key in ${developmentKeyFile} is used, for development only.`;
const newKeyNotice = 'A key is generated at each start';
const keygen = 'Run `npx express-intents keygen`, and set INTENT_VERIFIER_SECRET to the secret that it prints.';
const correctKey = 'Correct the value, or use a secret that `npx express-intents keygen` prints.';

/** @param isSimulated whether a generated key is acceptable */
export function readKeyRing(
  { options, env, report, isReadOnly }: ConfigSource,
  isSimulated: boolean,
): VerifierKeyRing | undefined {
  const { signer, verifierSecret } = loginOptions(options);
  const file = env.INTENT_VERIFIER_SECRET_FILE;
  const inline = verifierSecret ?? env.INTENT_VERIFIER_SECRET;
  if (!checkSigner(signer, report)) return undefined;
  if (inline && file) {
    return report.problem('INTENT_VERIFIER_SECRET', 'INTENT_VERIFIER_SECRET_FILE is set too.', 'Unset one of them.');
  }
  if (file) {
    const fix =
      'Set it to the path of a readable file with the secret. Separate several secrets with commas or newlines.';
    return report.parse('INTENT_VERIFIER_SECRET_FILE', fix, () => createKeyRing(readSecretFile(file), signer));
  }
  if (inline || signer) {
    return report.parse('INTENT_VERIFIER_SECRET', correctKey, () => createKeyRing(inline ?? '', signer));
  }
  if (!isSimulated) {
    return report.problem(
      'INTENT_VERIFIER_SECRET',
      'It is not set. Logins need a verifier key.',
      `${verifierSecret === undefined ? keygen : correctKey} For payments only: intentRouter({ login: false }).`,
    );
  }
  const { keyRing, isPersisted } = developmentKey(env, isReadOnly);
  // With INTENT_SECRET, the cookies do not depend on this key.
  const effect = (options.secret ?? env.INTENT_SECRET) ? '.' : ', so restarting logs everyone out.';
  report.notices.push(`INTENT_VERIFIER_SECRET is not set. ${isPersisted ? persistedKeyNotice : newKeyNotice + effect}`);
  return keyRing;
}

function checkSigner(signer: Signer | undefined, report: Report): boolean {
  if (!signer) return true;
  const fix =
    'login: { signer: { publicKey: <Base58 of 32 bytes>, sign: (bytes) => <Ed25519 signature of 64 bytes> } }';
  const isKey = report.parse('login.signer', fix, () => parseVerifyingKey(signer.publicKey)) !== undefined;
  if (isKey && typeof signer.sign !== 'function') report.problem('login.signer', 'It has no method `sign`.', fix);
  return isKey && typeof signer.sign === 'function';
}

/** The file may be the output of `keygen`: comments, and the name of the variable before a secret. */
function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^[ \t]*(?:#.*|INTENT_VERIFIER_SECRET=)/gm, '');
  } catch (error) {
    throw new IntentError('invalid_key', `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** RFC 2606 reserves `.example`. */
const simulatedDomain = 'shop.example';

function readDomain({ options, env, report }: ConfigSource, isSimulated: boolean): string | undefined {
  const domain = loginOptions(options).domain ?? env.INTENT_DOMAIN;
  const fix = 'INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>';
  if (domain) return report.parse('INTENT_DOMAIN', fix, () => parseVerifierDomain(domain));
  if (!isSimulated)
    return report.problem('INTENT_DOMAIN', 'It is not set. Logins require the domain of the site.', fix);
  report.notices.push(`INTENT_DOMAIN is not set. Logins use ${simulatedDomain}.`);
  return simulatedDomain;
}

interface CookieSecrets {
  readonly keyRing: VerifierKeyRing | undefined;
  readonly domain: string | undefined;
  readonly secrets: readonly string[];
}

function readCookieKeys(
  { options, env, report }: ConfigSource,
  { keyRing, domain, secrets }: CookieSecrets,
): readonly Uint8Array[] {
  const origin = options.origin ?? env.INTENT_ORIGIN;
  // The domain and the origin make a cookie invalid at another site that shares the secret.
  const purpose = `express-intents cookies v1 for ${domain}${origin ? ` at ${origin}` : ''}`;
  const keys = deriveKeys(purpose, secrets, keyRing);
  if (keyRing && keys.length === 0) {
    const problem =
      'It is not set. The cookie key can be derived from INTENT_VERIFIER_SECRET, but not from `login.signer`.';
    report.problem('INTENT_SECRET', problem, secretFix);
  }
  return keys;
}

/** Keys of 32 bytes from `INTENT_SECRET`, or else from the verifier secrets. The first encrypts; all of them decrypt. */
export function deriveKeys(
  purpose: string,
  secrets: readonly string[],
  keyRing: VerifierKeyRing | undefined,
): readonly Uint8Array[] {
  return secrets.length > 0
    ? secrets.map((secret) => deriveKey(secret, purpose))
    : (keyRing?.deriveKeys(purpose) ?? []);
}

const secretFix = 'INTENT_SECRET=<at least 32 random characters>';

/** The secrets in `INTENT_SECRET`. Empty if it is not set, or one is too short. */
export function readSecrets({ options, env, report }: ConfigSource): readonly string[] {
  const text = options.secret ?? (env.INTENT_SECRET || undefined);
  const secrets = text?.split(',').map((secret) => secret.trim()) ?? [];
  const short = secrets.findIndex((secret) => secret.length < 32);
  if (short < 0) return secrets;
  const isList = secrets.length > 1;
  const entry = isList ? `Entry ${short + 1} of ${secrets.length}` : 'It';
  const isEmpty = isList && secrets[short] === '';
  const problem = `${entry} is ${isEmpty ? 'empty. Remove the comma' : 'shorter than 32 characters'}.`;
  report.problem('INTENT_SECRET', problem, secretFix);
  return [];
}

function loginOptions({ login }: ConfigOptions): LoginOptions {
  return typeof login === 'object' ? login : {};
}
