import type { IntentState, LedgerIntent } from 'express-intents';
import { type Article, priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../orders.js';
import type { Page } from './layout.js';

/** A purchase as the ledger knows it. */
export interface Purchase {
  readonly intent: Pick<LedgerIntent, 'id' | 'state' | 'createdAt'>;
  readonly article: Article;
  /** Undefined until the payment is settled. */
  readonly order: Order | undefined;
}

export function thanksPage({ intent, article, order }: Purchase): Page {
  const { title, text, badge, isFinal } = words[intent.state];
  return {
    title,
    main: html`
      <section class="narrow" data-payment="${intent.state}"${!isFinal && html` data-watch="${intent.id}"`}>
        <img src="/images/${intent.state === 'settled' ? 'tick' : 'mark'}.svg" alt="" width="96" height="96">
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        <dl class="receipt">
          <div><dt>${article.name}</dt><dd>${priceOf(article)}</dd></div>
          ${order && html`<div><dt>Your number at the counter</dt><dd>${order.number}</dd></div>`}
          <div><dt>Ordered</dt><dd>${moment(intent.createdAt)}</dd></div>
          <div><dt>State</dt><dd><span class="badge badge--${intent.state}">${badge}</span></dd></div>
          <div><dt>Intent</dt><dd><code>${intent.id}</code></dd></div>
        </dl>
        <p><a class="button button--quiet" href="/">Back to the shop</a></p>
      </section>`,
    scripts: isFinal ? [] : ['thanks.js'],
  };
}

interface Words {
  readonly title: string;
  readonly text: string;
  readonly badge: string;
  /** Whether the page stops polling. */
  readonly isFinal: boolean;
}

const unpaid: Words = {
  title: 'Not paid yet.',
  text: 'If you have just confirmed the payment, this page updates in a moment.',
  badge: 'Not paid',
  isFinal: false,
};

/** By the state of the intent in the ledger. */
const words: Readonly<Record<IntentState, Words>> = {
  creating: unpaid,
  open: unpaid,
  submitted: {
    title: 'Your payment is here.',
    text: 'We are placing your order. This page will show your number at the counter.',
    badge: 'Submitted',
    isFinal: false,
  },
  settled: {
    title: 'Thank you. It is paid.',
    text: 'The kettle is on. Sit wherever the cat is not.',
    badge: 'Paid',
    isFinal: true,
  },
  reversed: {
    title: 'Your payment was reversed.',
    text: 'The payment service reported this. If you did not expect it, please ask at the counter.',
    badge: 'Reversed',
    isFinal: true,
  },
  expired: {
    title: 'This was never paid.',
    text: 'The time to pay is over. Please order again.',
    badge: 'Expired',
    isFinal: true,
  },
  dead: {
    title: 'Your payment is here.',
    text: 'Your order could not be placed. The payment is not lost: our staff will complete it.',
    badge: 'Delayed',
    isFinal: false,
  },
};

const moment = (date: Date): Html => {
  const text = date.toLocaleString('en-GB', { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
};
