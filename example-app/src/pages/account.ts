import { priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../order-book.js';
import type { PaymentState } from '../payment-state.js';
import { type Page, shorten } from './layout.js';

/** An order with what the payment service said of it just now. */
export interface CheckedOrder {
  readonly order: Order;
  readonly state: PaymentState;
}

export const accountPage = (userId: string, orders: readonly CheckedOrder[]): Page => ({
  title: 'My account',
  main: html`
      <section class="account">
        <div class="account__head">
          <div>
            <p class="eyebrow">My account</p>
            <h1>Hello, <span class="user-id" title="${userId}">${shorten(userId)}</span></h1>
            <p class="lead">That is all we know you by, and all we want to.</p>
          </div>
          <button class="button button--quiet" type="button" data-action="log-out">Log out</button>
        </div>
        <h2>Bought while you were logged in</h2>
        ${orderList(orders)}
      </section>`,
});

/** Begun and never paid is not bought; but when the service is silent, nothing is hidden. */
function orderList(orders: readonly CheckedOrder[]): Html {
  const shown = orders.filter(({ state }) => state !== 'pending');
  if (shown.length === 0) {
    return html`<p class="empty">Nothing yet. The <a href="/articles/sugar-cube">sugar cube</a> is a modest start.</p>`;
  }
  return html`<ul class="orders">${shown.map(orderRow)}
        </ul>`;
}

const orderRow = ({ order: { article, placedAt }, state }: CheckedOrder): Html => html`
          <li class="order">
            <span class="tile tile--small tint-${article.tint}">
              <img src="/images/${article.slug}.svg" alt="" width="64" height="64">
            </span>
            <span class="order__name">${article.name}<time datetime="${placedAt.toISOString()}">${dayOf(placedAt)}</time></span>
            <span class="order__price">${priceOf(article)}</span>
            <span class="badge badge--${state}">${state === 'paid' ? 'Paid' : 'Cannot be checked now'}</span>
          </li>`;

const dayOf = (date: Date): string => date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long' });
