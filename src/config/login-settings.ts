import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { IntentError } from '../errors.js';
import { parseBase58 } from '../keys/base58.js';
import { createKeyRing, type VerifierKeyRing } from '../keys/key-ring.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { generateKey, type Signer } from '../keys/verifier-key.js';
import type { ConfigOptions, Environment, LoginConfig } from './config.js';
import { readDuration } from './duration.js';
import type { Report } from './report.js';

/** The verifier keys, the domain they are published at, and what seals a login's cookie. */
export function readLogin(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): LoginConfig | undefined {
  const keyRing = readKeyRing(options, env, embedded, report);
  const domain = readDomain(options.domain ?? env.INTENT_DOMAIN, embedded, report);
  const secret = options.secret ?? (env.INTENT_SECRET || undefined);
  const cookieKeys = readCookieKeys(secret, keyRing, [domain, options.origin ?? env.INTENT_ORIGIN], report);
  const ttlMs = readDuration('loginTtlMs', options.loginTtlMs, 120_000, report);
  const sessionTtlMs = readDuration('sessionTtlMs', options.sessionTtlMs, 7 * 24 * 3_600_000, report);
  const { confirm = false } = options;
  return keyRing && domain ? Object.freeze({ keyRing, domain, ttlMs, sessionTtlMs, confirm, cookieKeys }) : undefined;
}

const keygen = 'Run `npx express-intents keygen` and set INTENT_VERIFIER_SECRET to what it prints.';

/** The verifier keys; the embedded sequencer makes do with one that nobody has set. */
export function readKeyRing(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): VerifierKeyRing | undefined {
  const file = options.verifierSecretFile ?? env.INTENT_VERIFIER_SECRET_FILE;
  const inline = options.verifierSecret ?? env.INTENT_VERIFIER_SECRET;
  if (!isSigner(options.signer, report)) return undefined;
  if (inline && file) {
    const problem = 'INTENT_VERIFIER_SECRET and INTENT_VERIFIER_SECRET_FILE are both set.';
    return report.problem('INTENT_VERIFIER_SECRET', problem, 'Keep one of the two.');
  }
  if (file) {
    const mend = 'Let it name a readable file that holds one or more secrets, separated by commas or lines.';
    return report.read('INTENT_VERIFIER_SECRET_FILE', mend, () => createKeyRing(readSecretFile(file), options.signer));
  }
  if (inline || options.signer) {
    return report.read('INTENT_VERIFIER_SECRET', keygen, () => createKeyRing(inline ?? '', options.signer));
  }
  if (!embedded) {
    return report.problem(
      'INTENT_VERIFIER_SECRET',
      'Logins need a verifier key, and there is none.',
      `${keygen} For payments alone: intentRouter({ login: false }).`,
    );
  }
  report.notices.push(
    'INTENT_VERIFIER_SECRET is not set: using a key that lasts until this process ends, so everyone is then logged out.',
  );
  return createKeyRing(generateKey().secret);
}

function isSigner(signer: Signer | undefined, report: Report): boolean {
  if (!signer) return true;
  const mend = 'signer: { publicKey: <Base58 of 32 bytes>, sign: (bytes) => <Ed25519 signature of 64 bytes> }';
  const isKey = report.read('signer', mend, () => parseBase58(signer.publicKey, 32, 'invalid_key')) !== undefined;
  if (isKey && typeof signer.sign !== 'function') report.problem('signer', 'It has no function sign.', mend);
  return isKey && typeof signer.sign === 'function';
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new IntentError('invalid_key', `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** RFC 2606 keeps `.example` free for uses like this. */
const embeddedDomain = 'shop.example';

function readDomain(domain: string | undefined, embedded: boolean, report: Report): string | undefined {
  const mend = 'INTENT_DOMAIN=<the name of your site as you registered it, such as example.com; not localhost>';
  if (domain) return report.read('INTENT_DOMAIN', mend, () => parseVerifierDomain(domain));
  if (!embedded) return report.problem('INTENT_DOMAIN', 'Logins name your domain, and it is not set.', mend);
  report.notices.push(`INTENT_DOMAIN is not set: logins name ${embeddedDomain}.`);
  return embeddedDomain;
}

function readCookieKeys(
  secret: string | undefined,
  keyRing: VerifierKeyRing | undefined,
  [domain, origin]: readonly (string | undefined)[],
  report: Report,
): readonly Uint8Array[] {
  // With the domain and the origin in it, a cookie of one site is worth nothing at another that shares the secret.
  const purpose = `express-intents cookies v1 for ${domain}${origin ? ` at ${origin}` : ''}`;
  const mend = 'INTENT_SECRET=<at least 32 random characters>';
  const secrets = secret?.split(',').map((part) => part.trim()) ?? [];
  if (secrets.some((part) => part.length < 32)) {
    report.problem('INTENT_SECRET', 'It is shorter than 32 characters.', mend);
    return [];
  }
  if (secrets.length > 0) {
    return secrets.map((part) => new Uint8Array(hkdfSync('sha256', part, '', purpose, 32)));
  }
  const derived = keyRing?.deriveKeys(purpose) ?? [];
  if (keyRing && derived.length === 0) {
    report.problem(
      'INTENT_SECRET',
      'With a signer and no verifier secret there is nothing to seal cookies with.',
      mend,
    );
  }
  return derived;
}
