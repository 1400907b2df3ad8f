import type { Payment, Queryable } from 'express-intents';
import { type Article, findArticle } from './articles.js';

/** An order that was paid. */
export interface Order {
  /** The intent id. */
  readonly id: string;
  /** The number for the counter. */
  readonly number: number;
  readonly article: Article;
  readonly paidAt: Date;
  /** Whether the payment was reversed. */
  readonly isReversed: boolean;
}

/** The shop's own table, in the database of the ledger. */
export async function createOrdersTable(db: Queryable): Promise<void> {
  await db.query('create schema if not exists tea_house');
  await db.query(`create table if not exists tea_house.orders (
    id text primary key,
    number integer generated always as identity,
    article text not null,
    user_id text,
    paid_at timestamptz not null default now(),
    reversed_at timestamptz
  )`);
}

/** Creates the order of a payment, or restores it if a reversed payment settles again. */
export async function placeOrder({ id, metadata }: Payment, tx: Queryable): Promise<void> {
  await tx.query(
    `insert into tea_house.orders (id, article, user_id) values ($1, $2, $3)
     on conflict (id) do update set reversed_at = null`,
    [id, metadata.article, metadata.userId ?? null],
  );
}

export async function reverseOrder({ id }: Payment, tx: Queryable): Promise<void> {
  await tx.query('update tea_house.orders set reversed_at = now() where id = $1', [id]);
}

export async function findOrder(id: string, db: Queryable): Promise<Order | undefined> {
  const [order] = await selectOrders('id = $1', [id], db);
  return order;
}

/** The latest orders of a user, newest first. */
export function latestOrdersOf(userId: string, count: number, db: Queryable): Promise<readonly Order[]> {
  return selectOrders('user_id = $1 order by number desc limit $2', [userId, count], db);
}

interface OrderRow {
  readonly id: string;
  readonly number: number;
  readonly article: string;
  readonly paid_at: Date;
  readonly reversed_at: Date | null;
}

async function selectOrders(which: string, values: readonly unknown[], db: Queryable): Promise<readonly Order[]> {
  const columns = 'id, number, article, paid_at, reversed_at';
  const { rows } = await db.query<OrderRow>(`select ${columns} from tea_house.orders where ${which}`, values);
  return rows.flatMap(toOrder);
}

/** Empty if the article is no longer sold. */
function toOrder({ id, number, article: slug, paid_at: paidAt, reversed_at: reversedAt }: OrderRow): Order[] {
  const article = findArticle(slug);
  return article ? [{ id, number, article, paidAt, isReversed: reversedAt !== null }] : [];
}
