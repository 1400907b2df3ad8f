import { type Article, articles, priceOf } from '../articles.js';
import { html } from '../html.js';
import type { Page } from './layout.js';

export const homePage = (): Page => ({
  title: 'Tea, taken slowly',
  main: html`
      <h1>Good tea takes four minutes. Paying for it takes four seconds.</h1>
      <p class="lead">No card, no form, no account. Choose an article and scan the code with your wallet.</p>
      <h2 id="shelf">Today in the shop</h2>
      <ul class="shelf">${articles.map(card)}
      </ul>`,
});

const card = (article: Article) => html`
        <li>
          <a class="card" href="/articles/${article.slug}">
            <span class="tile"><img src="/images/${article.slug}.svg" alt="" width="240" height="240" loading="lazy"></span>
            <span class="name">${article.name}</span>
            <span class="price">${priceOf(article)}</span>
            <span class="soft">${article.tagline}</span>
          </a>
        </li>`;
