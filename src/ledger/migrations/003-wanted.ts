import type { MigrationIndex } from '../migrations.js';

/**
 * What `requirePayment` looks for, the latest of each state: one browser may have begun thousands of payments for one thing.
 * `intents_resource` of the first tables stays for the versions that know no other.
 */
export const wantedIndex: MigrationIndex = {
  name: 'intents_wanted',
  on: 'express_intents.intents (browser, resource, state, created_at) where resource is not null',
};
