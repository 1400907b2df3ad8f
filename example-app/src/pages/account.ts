import { priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../orders.js';
import { type Page, shorten } from './layout.js';

export const accountPage = (userId: string, orders: readonly Order[]): Page => ({
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

function orderList(orders: readonly Order[]): Html {
  if (orders.length === 0) {
    return html`<p class="empty">Nothing yet. The <a href="/articles/sugar-cube">sugar cube</a> is a modest start.</p>`;
  }
  return html`<ul class="orders">${orders.map(orderRow)}
        </ul>`;
}

const orderRow = ({ number, article, paidAt, isTakenBack }: Order): Html => html`
          <li class="order">
            <span class="tile tile--small tint-${article.tint}">
              <img src="/images/${article.slug}.svg" alt="" width="64" height="64">
            </span>
            <span class="order__name">${article.opens ? html`<a href="${article.opens}">${article.name}</a>` : article.name}<span>No. ${number}, <time datetime="${paidAt.toISOString()}">${dayOf(paidAt)}</time></span></span>
            <span class="order__price">${priceOf(article)}</span>
            ${isTakenBack ? html`<span class="badge">Taken back</span>` : html`<span class="badge badge--settled">Paid</span>`}
          </li>`;

const dayOf = (date: Date): string => date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long' });
