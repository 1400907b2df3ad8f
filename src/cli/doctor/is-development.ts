import { isLocal } from './names.js';
import type { SoundSettings } from './sound-settings.js';

/** Names that nobody can register (RFC 2606, RFC 6761). */
const reserved = /\.(?:example|test|invalid|localhost)$/;

/** Whether the sequencer reads the key file on this machine, and not where the domain says. */
export function isDevelopment({ sequencerUrl, domain }: SoundSettings): boolean {
  if (sequencerUrl === undefined) return false;
  if (sequencerUrl === 'embedded') return true;
  return isLocal(new URL(sequencerUrl).hostname) && domain !== undefined && reserved.test(domain);
}
