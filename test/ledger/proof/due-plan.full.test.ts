import type { Queryable } from '../../../src/ledger/database/database.js';
import { claimDue, claimUnpaid } from '../../../src/ledger/settlement/claim-payments.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { kinds, openTestDatabase } from '../../support/databases/databases.js';
import { insertPayments } from './insert-payments.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The nodes of the plan of a query. */
async function planOf(db: Queryable, runQuery: (db: Queryable) => Promise<unknown>): Promise<PlanNode[]> {
  let nodes: PlanNode[] = [];
  const explaining: Queryable = {
    query: async (sql, values) => {
      const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${sql}`, values);
      const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
      nodes = rows.flatMap((row) => flat(row['QUERY PLAN'][0].Plan));
      return { rows: [], rowCount: 0 };
    },
  };
  await runQuery(explaining);
  return nodes;
}

/** The indexes that a plan reads, and tables that it reads as a whole. */
const scansIn = (nodes: readonly PlanNode[]): string[] =>
  nodes.flatMap((node) => {
    const isWhole = node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== 'required_hooks';
    return node['Index Name'] ?? (isWhole ? ['Seq Scan'] : []);
  });

describe.each(kinds)('a query for due payments among 20,000 open ones on %s', (kind) => {
  it.each(['before', 'after'])('reads only due rows %s the database has collected statistics', async (when) => {
    const { db } = await openTestDatabase(kind);
    await insertPayments(db, 20_000, 3_600_000);
    if (when === 'after') await db.query('analyze express_intents.intents, express_intents.payments');
    const due = await planOf(db, (explaining) =>
      claimDue(explaining, { first: 6, retry: 1, slow: 1, quarantine: 1 }, { timing: defaultTiming, hooks: [] }),
    );
    expect([...new Set(scansIn(due))].sort()).toEqual([
      ...['intents_pkey', 'logins_pkey', 'payments_due', 'payments_pkey'],
    ]);
    const named = await planOf(db, (explaining) =>
      claimUnpaid(explaining, ['a', 'b'], { timing: defaultTiming, hooks: [] }),
    );
    expect(scansIn(named)).not.toContain('Seq Scan');
    expect(scansIn(named)).toContain('payments_pkey');
  });
});
