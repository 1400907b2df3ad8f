import type { Article } from './articles.js';

/** Something a visitor set out to buy; whether it is paid only the payment service knows. */
export interface Order {
  /** The intent id. */
  readonly id: string;
  readonly article: Article;
  readonly placedAt: Date;
  /** The browser it was placed from. */
  readonly visitor: string;
  /** Who was logged in when it was placed. */
  readonly userId: string | undefined;
}

/** The orders, in memory: enough for an example. A shop that is one keeps them in its database. */
export class OrderBook {
  readonly #orders = new Map<string, Order>();
  readonly #capacity: number;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(capacity = 1_000) {
    this.#capacity = capacity;
  }

  add(order: Order): void {
    const [oldest] = this.#orders.keys();
    if (oldest !== undefined && this.#orders.size >= this.#capacity) this.#orders.delete(oldest);
    this.#orders.set(order.id, order);
  }

  get(id: string): Order | undefined {
    return this.#orders.get(id);
  }

  /** The latest orders of a user, newest first. */
  latestOf(userId: string, count: number): readonly Order[] {
    return [...this.#orders.values()]
      .filter((order) => order.userId === userId)
      .slice(-count)
      .reverse();
  }
}
