import type { MigrationIndex } from '../migrations.js';

/** What `prune` looks for, so that its cost is that of what it finds: intents with which nothing is left to be done. */
export const finishedIndex: MigrationIndex = {
  name: 'intents_finished',
  on: `express_intents.intents (created_at, id) where due_at is null and state <> 'dead' and resource is null`,
};
