import { priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../order-book.js';
import type { PaymentState } from '../payment-state.js';
import type { Page } from './layout.js';

export function thanksPage(order: Order, state: PaymentState): Page {
  const { title, text } = words[state];
  return {
    title,
    main: html`
      <section class="narrow" data-payment="${state}"${watch(order, state)}>
        ${
          state === 'paid'
            ? html`<img class="stamp" src="/images/tick.svg" alt="" width="96" height="96">`
            : html`<img src="/images/mark.svg" alt="" width="96" height="96">`
        }
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        ${receipt(order, state)}
        <p><a class="button button--quiet" href="/">Back to the shelf</a></p>
      </section>`,
    scripts: state === 'paid' ? [] : ['thanks.js'],
  };
}

const words: Readonly<Record<PaymentState, { readonly title: string; readonly text: string }>> = {
  paid: { title: 'Thank you. It is paid.', text: 'The kettle is on. Sit wherever the cat is not.' },
  pending: {
    title: 'Not paid yet.',
    text: 'The payment service has not seen your payment. If you have just confirmed it, this page will know in a moment.',
  },
  unknown: {
    title: 'We cannot check this right now.',
    text: 'The payment service does not answer us. A payment you have confirmed is not lost; please look again in a while.',
  },
};

const watch = ({ id }: Order, state: PaymentState): Html => (state === 'paid' ? html`` : html` data-watch="${id}"`);

const receipt = ({ id, article, placedAt }: Order, state: PaymentState): Html => html`
        <dl class="receipt">
          <div><dt>${article.name}</dt><dd>${priceOf(article)}</dd></div>
          <div><dt>Ordered</dt><dd><time datetime="${placedAt.toISOString()}">${momentOf(placedAt)}</time></dd></div>
          <div><dt>State</dt><dd><span class="badge badge--${state}">${stateWords[state]}</span></dd></div>
          <div class="receipt__id"><dt>Intent</dt><dd><code>${id}</code></dd></div>
        </dl>`;

const stateWords: Readonly<Record<PaymentState, string>> = { paid: 'Paid', pending: 'Waiting', unknown: 'Unknown' };

const momentOf = (date: Date): string =>
  date.toLocaleString('en-GB', { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });
