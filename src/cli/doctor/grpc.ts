import { createGrpcTransport } from '../../sequencer/grpc-transport.js';
import { askStatus } from './ask-status.js';
import type { Check } from './check.js';
import { skipped } from './finding.js';

/** The sequencer over direct gRPC (interface section 4.2), where that is set. */
export const grpc: Check = async (context) => {
  const { settings, world, env } = context;
  const { grpcUrl } = settings;
  if (grpcUrl === undefined) {
    return [skipped(env.INTENT_SEQUENCER_GRPC_URL ? 'there is no right INTENT_SEQUENCER_GRPC_URL' : 'not used')];
  }
  if (world.versionOf('@grpc/grpc-js') === undefined) return [skipped('its package is missing')];
  const transport = createGrpcTransport({ url: grpcUrl, timeoutMs: world.checkMs });
  return askStatus(transport, { url: new URL(grpcUrl), setting: 'INTENT_SEQUENCER_GRPC_URL' }, context);
};
