import { type Article, priceOf } from '../articles.js';
import { html } from '../html.js';
import type { Page } from './layout.js';

export const articlePage = (article: Article): Page => ({
  title: article.name,
  main: html`
      <p><a href="/">← Back to the shop</a></p>
      <article class="article">
        <div class="tile"><img src="/images/${article.slug}.svg" alt="" width="480" height="480"></div>
        <div>
          <h1>${article.name}</h1>
          <p class="price">${priceOf(article)}</p>
          <p class="lead">${article.tagline}</p>
          <intent-button class="pay" mode="payment" success-url="/thanks/{{INTENT_ID}}"
            data-article="${article.slug}">Pay ${priceOf(article)}</intent-button>
          <p class="soft">Paid from your wallet in one step.</p>
        </div>
      </article>`,
});
