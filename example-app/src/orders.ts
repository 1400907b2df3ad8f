import type { Payment, Queryable } from 'express-intents';
import { type Article, findArticle } from './articles.js';

/** Something that is paid, and to be handed over. */
export interface Order {
  /** The intent id. */
  readonly id: string;
  /** Called out at the counter. */
  readonly number: number;
  readonly article: Article;
  readonly paidAt: Date;
  /** Whether the payment was taken back after all. */
  readonly isTakenBack: boolean;
}

/** The shop's own table, in the database that the ledger is in. */
export async function makeOrdersTable(db: Queryable): Promise<void> {
  await db.query('create schema if not exists tea_house');
  await db.query(`create table if not exists tea_house.orders (
    id text primary key,
    number integer generated always as identity,
    article text not null,
    user_id text,
    paid_at timestamptz not null default now(),
    taken_back_at timestamptz
  )`);
}

/** Makes an order of a payment. One that was taken back may be paid after all: then it is the same order. */
export async function placeOrder({ id, metadata }: Payment, tx: Queryable): Promise<void> {
  await tx.query(
    `insert into tea_house.orders (id, article, user_id) values ($1, $2, $3)
     on conflict (id) do update set taken_back_at = null`,
    [id, metadata.article, metadata.userId ?? null],
  );
}

export async function takeOrderBack({ id }: Payment, tx: Queryable): Promise<void> {
  await tx.query('update tea_house.orders set taken_back_at = now() where id = $1', [id]);
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
  readonly taken_back_at: Date | null;
}

async function selectOrders(which: string, values: readonly unknown[], db: Queryable): Promise<readonly Order[]> {
  const columns = 'id, number, article, paid_at, taken_back_at';
  const { rows } = await db.query<OrderRow>(`select ${columns} from tea_house.orders where ${which}`, values);
  return rows.flatMap(toOrder);
}

/** Nothing where the article is no longer sold. */
function toOrder({ id, number, article: slug, paid_at: paidAt, taken_back_at: takenBackAt }: OrderRow): Order[] {
  const article = findArticle(slug);
  return article ? [{ id, number, article, paidAt, isTakenBack: takenBackAt !== null }] : [];
}
