import { certificate } from './certificate.js';
import type { Check } from './check.js';
import { clock } from './clock.js';
import { create } from './create.js';
import { database } from './database.js';
import { events } from './events.js';
import { grpc } from './grpc.js';
import { keyFile } from './key-file.js';
import { ledgerFolder } from './ledger-folder.js';
import { names } from './names.js';
import { nodeVersion } from './node-version.js';
import { origin } from './origin.js';
import { packages } from './packages.js';
import { secrets } from './secrets.js';
import { sequencer } from './sequencer.js';
import { settings } from './settings.js';
import { site } from './site.js';
import { stream } from './stream.js';
import { webhook } from './webhook.js';

export interface NamedCheck {
  readonly name: string;
  readonly needsNetwork: boolean;
  readonly check: Check;
}

const local = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: false, check });
const remote = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: true, check });

/** All of them, in the order in which they are told: from this machine outwards. `docs/cli.md` has a row for each. */
export const checks: readonly NamedCheck[] = [
  local('node', nodeVersion),
  local('packages', packages),
  local('settings', settings),
  local('secrets', secrets),
  local('names', names),
  local('folder', ledgerFolder),
  remote('database', database),
  remote('sequencer', sequencer),
  remote('stream', stream),
  remote('grpc', grpc),
  remote('key file', keyFile),
  remote('certificate', certificate),
  remote('site', site),
  remote('origin', origin),
  remote('events', events),
  remote('webhook', webhook),
  remote('create', create),
  remote('clock', clock),
];
