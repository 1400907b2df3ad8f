import type { Environment } from '../../config.js';
import type { Finding } from './finding.js';

/** What is shorter is found in many a word of ours. */
const shortest = 8;

/**
 * Takes what is secret in the environment out of findings. None of them puts it in; what other programs and machines say
 * is in them, though.
 */
export function hideSecrets(env: Environment): (finding: Finding) => Finding {
  const secrets = secretsIn(env).filter((secret) => secret.length >= shortest);
  const hide = (text: string): string => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
  return (finding) => ({
    ...finding,
    text: hide(finding.text),
    ...('mend' in finding && { mend: hide(finding.mend) }),
  });
}

function secretsIn(env: Environment): string[] {
  const { INTENT_VERIFIER_SECRET = '', INTENT_SECRET = '', INTENT_DATABASE_URL = '' } = env;
  const listed = [INTENT_VERIFIER_SECRET, INTENT_SECRET].flatMap((text) => text.split(',').map((part) => part.trim()));
  const [, password = ''] = /^[a-z+]+:\/\/[^/@]*?:(.*)@/i.exec(INTENT_DATABASE_URL) ?? [];
  return [...listed, password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
