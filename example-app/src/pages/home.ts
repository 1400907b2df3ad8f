import { type Article, articles, priceOf } from '../articles.js';
import { essay } from '../essay.js';
import { html } from '../html.js';
import type { Page } from './layout.js';

export const homePage = (): Page => ({
  title: 'Tea, taken slowly',
  main: html`
      <section class="hero">
        <div class="hero__text">
          <p class="eyebrow">Tea house &amp; small shop</p>
          <h1>Good tea takes four minutes. Paying for it takes four seconds.</h1>
          <p class="lead">No card, no form, no account to make up. Choose something, point your wallet at the code, and
            put the kettle on.</p>
          <a class="button" href="#shelf">See what is on the shelf</a>
        </div>
        <img class="hero__picture" src="/images/hero.svg" alt="" width="560" height="440">
      </section>
      <section aria-labelledby="shelf">
        <h2 id="shelf">On the shelf today</h2>
        <ul class="shelf">${articles.map(card)}
        </ul>
      </section>
      <section class="reading" aria-labelledby="reading">
        <h2 id="reading">To read while it steeps</h2>
        <a class="reading__link" href="/articles/${essay.slug}">
          <span class="tile tint-${essay.tint}"><img src="/images/${essay.slug}.svg" alt="" width="120" height="120"></span>
          <span class="card__text">
            <span class="card__name">${essay.name}</span>
            <span class="card__price">${priceOf(essay)}</span>
            <span class="card__line">${essay.line}</span>
          </span>
        </a>
      </section>
      ${behindTheCounter}`,
});

const card = (article: Article) => html`
          <li class="card">
            <a class="card__link" href="/articles/${article.slug}">
              <span class="tile tint-${article.tint}">
                <img src="/images/${article.slug}.svg" alt="" width="240" height="240" loading="lazy">
              </span>
              <span class="card__text">
                <span class="card__name">${article.name}</span>
                <span class="card__price">${priceOf(article)}</span>
                <span class="card__line">${article.line}</span>
              </span>
            </a>
          </li>`;

const code = `app.use(intentRouter({
  payment: (req) => priceOf(req.body.order),
  onPaid: (payment, { tx }) => orders.place(payment, tx),
}));

app.get('/account', requireLogin({ loginUrl: '/login' }),
  (req, res) => res.send(\`Hello \${req.intent.user.id}\`));`;

const behindTheCounter = html`
      <section class="counter" aria-labelledby="counter">
        <div>
          <p class="counter__eyebrow">Behind the counter</p>
          <h2 id="counter">The till is one piece of middleware.</h2>
          <p class="counter__text">This shop is an ordinary Express app. Payments, logins and the session come from one middleware. The price
            comes from the server, and every payment becomes one order: also when you close this page, or somebody pulls our plug.</p>
        </div>
        <pre class="counter__code" tabindex="0"><code>${code}</code></pre>
      </section>`;
