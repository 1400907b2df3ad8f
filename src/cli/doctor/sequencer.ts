import { createHttpTransport } from '../../sequencer/http-transport.js';
import { askStatus } from './ask-status.js';
import type { Check } from './check.js';
import { ok, skipped } from './finding.js';

/** The sequencer over its HTTP proxy (interface section 4.1). */
export const sequencer: Check = async (context) => {
  const { settings, world } = context;
  const { sequencerUrl, grpcUrl } = settings;
  if (sequencerUrl === 'embedded') return [ok('embedded: it starts with the site, for development')];
  if (sequencerUrl === undefined) {
    return [skipped(grpcUrl ? 'gRPC is used instead of the proxy' : 'there is no right INTENT_SEQUENCER_URL')];
  }
  const transport = createHttpTransport({ url: sequencerUrl, timeoutMs: world.checkMs });
  return askStatus(transport, { url: new URL(sequencerUrl), setting: 'INTENT_SEQUENCER_URL' }, context);
};
