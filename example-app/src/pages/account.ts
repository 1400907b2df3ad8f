import { priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../orders.js';
import { type Page, shorten } from './layout.js';

export const accountPage = (userId: string, orders: readonly Order[]): Page => ({
  title: 'My account',
  main: html`
      <h1>Hello, <span title="${userId}">${shorten(userId)}</span></h1>
      <p class="lead">This id is all the shop knows about you.</p>
      <p><button class="button button--quiet" type="button" data-action="log-out">Log out</button></p>
      <h2>Orders while you were logged in</h2>
      ${orderList(orders)}`,
});

function orderList(orders: readonly Order[]): Html {
  if (orders.length === 0) {
    return html`<p>Nothing yet. The <a href="/articles/sugar-cube">sugar cube</a> is the cheapest start.</p>`;
  }
  return html`<ul class="orders">${orders.map(orderRow)}
        </ul>`;
}

const orderRow = ({ number, article, paidAt, isReversed }: Order): Html => html`
          <li class="order">
            <span class="name">${article.name}</span>
            <span class="soft">No. ${number}, <time datetime="${paidAt.toISOString()}">${dayOf(paidAt)}</time></span>
            <span class="price">${priceOf(article)}</span>
            ${isReversed ? html`<span class="badge">Reversed</span>` : html`<span class="badge badge--settled">Paid</span>`}
          </li>`;

const dayOf = (date: Date): string => date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long' });
