import { type Article, priceOf } from '../articles.js';
import { html } from '../html.js';
import { type Page, shopName } from './layout.js';

export const articlePage = (article: Article): Page => ({
  title: article.name,
  main: html`
      <p><a class="back" href="/">← Back to the shelf</a></p>
      <article class="article">
        <div class="tile tile--large tint-${article.tint}">
          <img src="/images/${article.slug}.svg" alt="" width="480" height="480">
        </div>
        <div class="article__text">
          <h1>${article.name}</h1>
          <p class="article__price">${priceOf(article)}</p>
          <p class="lead">${article.line}</p>
          <p>${article.story}</p>
          <intent-button class="pay" mode="payment" payee="${shopName}" success-url="${article.opens ?? '/thanks/{{INTENT_ID}}'}"
            data-article="${article.slug}">Pay ${priceOf(article)}</intent-button>
          <p class="fine">Paid from your wallet in one step. We learn nothing about you but that you have taste.</p>
          ${article.opens && html`<p class="fine">Paid before, in this browser? <a href="${article.opens}">Read on</a>.</p>`}
          <dl class="facts">${article.facts.map(
            ([name, value]) => html`
            <div><dt>${name}</dt><dd>${value}</dd></div>`,
          )}
          </dl>
        </div>
      </article>`,
});
