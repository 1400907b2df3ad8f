import { parseArgs } from 'node:util';
import { startSequencer } from '../emulator/index.js';
import { IntentError } from '../errors.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import type { Command } from './run.js';

/** `sequencer`: the embedded sequencer as a process of its own. */
export const sequencer: Command = async (args, terminal) => {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '4747' },
      'grpc-port': { type: 'string' },
      state: { type: 'string' },
      local: { type: 'string', multiple: true, default: [] },
    },
  });
  const grpcPort = values['grpc-port'];
  const { url, grpcUrl, inspectorUrl, walletUrl, faultsUrl, serviceKey } = await startSequencer({
    port: parsePort('--port', values.port),
    grpcPort: grpcPort === undefined ? undefined : parsePort('--grpc-port', grpcPort),
    stateFile: values.state,
    unref: false,
    localDomains: Object.fromEntries(values.local.map(parseLocalDomain)),
  });
  terminal.out(`sequencer  ${url}   (INTENT_SEQUENCER_URL=${url})`);
  if (grpcUrl) terminal.out(`gRPC       ${grpcUrl}   (INTENT_SEQUENCER_GRPC_URL=${grpcUrl})`);
  terminal.out(`inspector  ${inspectorUrl}`);
  terminal.out(`wallet     ${walletUrl}`);
  terminal.out(`faults     ${faultsUrl}`);
  // By itself, to be copied: a site with webhooks needs it, and it is another one at every start.
  terminal.out(`INTENT_SERVICE_KEY=${serviceKey}`);
  return 0;
};

function parsePort(flag: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new IntentError('invalid_configuration', `${flag} must be a number from 0 to 65535.`);
}

function parseLocalDomain(text: string): [domain: string, origin: string] {
  const [domain = '', origin = ''] = text.split('=', 2);
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new IntentError('invalid_configuration', '--local must look like shop.example=http://127.0.0.1:3000.');
  }
  return [parseVerifierDomain(domain), origin];
}
