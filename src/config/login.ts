import { readFileSync } from 'node:fs';
import { maxTimerMs } from '../async/timeout.js';
import { IntentError } from '../errors.js';
import { parseBase58 } from '../keys/base58.js';
import { createKeyRing, deriveKey, type VerifierKeyRing } from '../keys/key-ring.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import type { Signer } from '../keys/verifier-key.js';
import type { ConfigSource } from './config-options.js';
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
  /** Keys of 32 bytes for cookies. The first encrypts; all of them decrypt. */
  readonly cookieKeys: readonly Uint8Array[];
}

export function readLogin(source: ConfigSource, isSimulated: boolean): LoginConfig | undefined {
  if (source.options.login === false) return undefined;
  const keyRing = readKeyRing(source, isSimulated);
  const domain = readDomain(source, isSimulated);
  const cookieKeys = readCookieKeys(source, keyRing, domain);
  const options = readLoginOptions(source);
  return keyRing && domain ? Object.freeze({ keyRing, domain, cookieKeys, ...options }) : undefined;
}

function readLoginOptions({
  options,
  report,
}: ConfigSource): Pick<LoginConfig, 'ttlMs' | 'sessionTtlMs' | 'confirm' | 'keepSession'> {
  const given = typeof options.login === 'object' ? options.login : {};
  report.unknownNames('login', given, ['ttlMs', 'confirm', 'keepSession', 'sessionTtlMs']);
  const { confirm = false } = given;
  if (typeof confirm !== 'boolean')
    report.problem('login.confirm', 'It must be true or false.', 'login: { confirm: true }');
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
  if (!Array.isArray(given) || !given.every((name) => typeof name === 'string')) {
    report.problem('login.keepSession', 'It must be an array of property names of req.session.', fix);
    return [];
  }
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
  const file = env.INTENT_VERIFIER_SECRET_FILE;
  const inline = options.verifierSecret ?? env.INTENT_VERIFIER_SECRET;
  if (!checkSigner(options.signer, report)) return undefined;
  if (inline && file) {
    return report.problem('INTENT_VERIFIER_SECRET', 'INTENT_VERIFIER_SECRET_FILE is set too.', 'Unset one of them.');
  }
  if (file) {
    const fix =
      'Set it to the path of a readable file with the secret. Separate several secrets with commas or newlines.';
    return report.parse('INTENT_VERIFIER_SECRET_FILE', fix, () => createKeyRing(readSecretFile(file), options.signer));
  }
  if (inline || options.signer) {
    return report.parse('INTENT_VERIFIER_SECRET', correctKey, () => createKeyRing(inline ?? '', options.signer));
  }
  if (!isSimulated) {
    return report.problem(
      'INTENT_VERIFIER_SECRET',
      'It is not set. Logins need a verifier key.',
      `${options.verifierSecret === undefined ? keygen : correctKey} For payments only: intentRouter({ login: false }).`,
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
  const fix = 'signer: { publicKey: <Base58 of 32 bytes>, sign: (bytes) => <Ed25519 signature of 64 bytes> }';
  const isKey = report.parse('signer', fix, () => parseBase58(signer.publicKey, 32, 'invalid_key')) !== undefined;
  if (isKey && typeof signer.sign !== 'function') report.problem('signer', 'It has no method `sign`.', fix);
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
const embeddedDomain = 'shop.example';

function readDomain({ options, env, report }: ConfigSource, isSimulated: boolean): string | undefined {
  const domain = options.domain ?? env.INTENT_DOMAIN;
  const fix = 'INTENT_DOMAIN=<the registrable domain of the site, such as example.com, not localhost>';
  if (domain) return report.parse('INTENT_DOMAIN', fix, () => parseVerifierDomain(domain));
  if (!isSimulated)
    return report.problem('INTENT_DOMAIN', 'It is not set. Logins require the domain of the site.', fix);
  report.notices.push(`INTENT_DOMAIN is not set. Logins use ${embeddedDomain}.`);
  return embeddedDomain;
}

function readCookieKeys(
  { options, env, report }: ConfigSource,
  keyRing: VerifierKeyRing | undefined,
  domain: string | undefined,
): readonly Uint8Array[] {
  const origin = options.origin ?? env.INTENT_ORIGIN;
  // The domain and the origin make a cookie invalid at another site that shares the secret.
  const purpose = `express-intents cookies v1 for ${domain}${origin ? ` at ${origin}` : ''}`;
  const fix = 'INTENT_SECRET=<at least 32 random characters>';
  const text = options.secret ?? (env.INTENT_SECRET || undefined);
  const secrets = text?.split(',').map((secret) => secret.trim()) ?? [];
  const short = secrets.findIndex((secret) => secret.length < 32);
  if (short >= 0) {
    const isList = secrets.length > 1;
    const entry = isList ? `Entry ${short + 1} of ${secrets.length}` : 'It';
    const isEmpty = isList && secrets[short] === '';
    const entryProblem = `${entry} is ${isEmpty ? 'empty. Remove the comma' : 'shorter than 32 characters'}.`;
    report.problem('INTENT_SECRET', entryProblem, fix);
    return [];
  }
  if (secrets.length > 0) {
    return secrets.map((secret) => deriveKey(secret, purpose));
  }
  const derived = keyRing?.deriveKeys(purpose) ?? [];
  if (keyRing && derived.length === 0) {
    const problem = 'It is not set. The cookie key can be derived from INTENT_VERIFIER_SECRET, but not from `signer`.';
    report.problem('INTENT_SECRET', problem, fix);
  }
  return derived;
}
