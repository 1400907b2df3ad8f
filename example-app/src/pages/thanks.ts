import type { IntentState, LedgerIntent } from 'express-intents';
import { type Article, priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../orders.js';
import type { Page } from './layout.js';

/** A purchase in the ledger. */
export interface Purchase {
  readonly intent: Pick<LedgerIntent, 'id' | 'state' | 'createdAt'>;
  readonly article: Article;
  /** Undefined until the payment is settled. */
  readonly order: Order | undefined;
}

export function thanksPage({ intent, article, order }: Purchase): Page {
  const { title, text, badge, isFinal } = textsByState[intent.state];
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
          <div><dt>Ordered</dt><dd>${formatTime(intent.createdAt)}</dd></div>
          <div><dt>State</dt><dd><span class="badge badge--${intent.state}">${badge}</span></dd></div>
          <div><dt>Intent</dt><dd><code>${intent.id}</code></dd></div>
        </dl>
        <p><a class="button button--quiet" href="/">Back to the shop</a></p>
      </section>`,
    scripts: isFinal ? [] : ['thanks.js'],
  };
}

interface StateTexts {
  readonly title: string;
  readonly text: string;
  readonly badge: string;
  /** Whether the page stops polling. */
  readonly isFinal: boolean;
}

const unpaid: StateTexts = {
  title: 'Your order is not confirmed yet.',
  text: 'If you have just paid, this page updates in a moment.',
  badge: 'Not confirmed',
  isFinal: false,
};

/** By the state of the intent in the ledger. */
const textsByState: Readonly<Record<IntentState, StateTexts>> = {
  creating: unpaid,
  created: unpaid,
  // Only logins are completed, and they have no page.
  completed: unpaid,
  submitted: {
    title: 'Payment received.',
    text: 'We are placing your order. This page shows your number at the counter when it is ready.',
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
    text: 'If you did not expect this, please ask at the counter.',
    badge: 'Reversed',
    isFinal: true,
  },
  expired: {
    title: 'This order was not paid.',
    text: 'The payment time has expired. Please order again.',
    badge: 'Expired',
    isFinal: true,
  },
  dead: {
    title: 'Payment received.',
    text: 'We could not place your order yet. Your payment is safe. Our staff will complete the order.',
    badge: 'Delayed',
    isFinal: false,
  },
};

const formatTime = (date: Date): Html => {
  const text = date.toLocaleString('en-GB', { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
};
