import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import bs58 from 'bs58';

/** The key pair of the service, or of an attacker. */
export interface JwtKey {
  readonly privateKey: KeyObject;
  /** Base58, as INTENT_WEBHOOK_PUBLIC_KEY has it. */
  readonly publicKey: string;
  /** The same as in a JWK. */
  readonly x: string;
}

export function generateJwtKey(): JwtKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const x = String(publicKey.export({ format: 'jwk' }).x);
  return { privateKey, x, publicKey: bs58.encode(Buffer.from(x, 'base64url')) };
}

export const base64url = (value: unknown): string =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url');

/** A JWT built by hand (RFC 7515 section 3.1), so any part can be invalid. By default it equals those of the service. */
export function jwtOf(
  claims: unknown,
  { privateKey }: Pick<JwtKey, 'privateKey'>,
  header: unknown = { alg: 'EdDSA' },
): string {
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${base64url(sign(null, Buffer.from(signed), privateKey))}`;
}
